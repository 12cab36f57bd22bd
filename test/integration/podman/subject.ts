/** A provider on the Podman service that the tests were given, or can have. */
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensurePodman } from '../../../scripts/setup/podman.mjs';
import { createProvider } from '../../../src/sandbox/podman/index.js';
import type { Subject } from '../conformance.js';

export interface PodmanSubject extends Subject {
  readonly image: string;
  /** Runs Podman's own command line on that service, and gives what it prints. */
  readonly podman: (...args: string[]) => Promise<string>;
}

export async function podmanSubject(): Promise<PodmanSubject> {
  const { missing, host, baseImage, noCheckpoints, stop } = await ensurePodman();
  if (host === undefined || baseImage === undefined) throw new Error(missing);
  process.env.CONTAINER_HOST = host;
  const podman = async (...args: string[]): Promise<string> => (await promisify(execFile)('podman', ['--url', host, ...args], { timeout: 60_000 })).stdout;
  const stateDir = await mkdtemp(join(tmpdir(), 'rl-podman-'));
  return {
    podman,
    noMemorySnapshots: noCheckpoints,
    image: baseImage,
    provider: createProvider({ stateDir, log: console.error }),
    base: { image: baseImage },
    context: { stateDir },
    parallel: 16,
    assertNothingLeft: async (id) => assert.equal(await podman('ps', '--all', '--filter', `name=rl-${id}`, '--format', '{{.Names}} {{.State}}'), ''),
    close: async () => {
      await rm(stateDir, { recursive: true, force: true });
      await stop();
    },
  };
}
