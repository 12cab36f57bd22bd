/** A provider on the engine that the tests were given, or can have. */
import { strict as assert } from 'node:assert';
import Docker from 'dockerode';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDocker } from '../../../scripts/setup/docker.mjs';
import { createProvider } from '../../../src/sandbox/docker/index.js';
import { currentOwner } from '../../../src/sandbox/owner.js';
import type { Subject } from '../conformance.js';

export interface DockerSubject extends Subject {
  /** The engine without the provider between. */
  readonly docker: Docker;
  readonly image: string;
  /** Containers of this process's sandboxes, in whatever state: `name state`. Others may be at work on the same engine. */
  readonly containers: () => Promise<string[]>;
}

/** There is no engine and none can be had here: a reason to skip. */
export class NoEngine extends Error {}

export async function dockerSubject(): Promise<DockerSubject> {
  const { missing, host, baseImage, stop } = await ensureDocker();
  if (host === undefined || baseImage === undefined) throw new NoEngine(missing);
  process.env.DOCKER_HOST = host;
  const docker = new Docker();
  const stateDir = await mkdtemp(join(tmpdir(), 'rl-docker-'));
  return {
    docker,
    image: baseImage,
    containers: async () => {
      const mine = await docker.listContainers({ all: true, filters: { label: [`rl-sandboxes.owner=${await currentOwner()}`] } });
      return mine.map(({ Names, State }) => `${Names[0]} ${State}`);
    },
    provider: createProvider({ stateDir, log: console.error }),
    base: { image: baseImage },
    context: { stateDir },
    parallel: 16,
    restoresAtOnce: 60,
    assertNothingLeft: async (id) => {
      const left = await docker.listContainers({ all: true, filters: { name: [`rl-${id}`] } });
      assert.deepEqual(left.map(({ Names, State }) => [Names, State]), []);
    },
    close: async () => {
      await rm(stateDir, { recursive: true, force: true });
      await stop();
    },
  };
}
