/** A container whose processes are put on disk, and go on in the same container: the engine's checkpoints. */
import type Docker from 'dockerode';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '../deadline.js';
import type { SandboxSpec } from '../provider.js';
import { missingCriu } from './criu.js';
import type { Engine } from './engine.js';
import { reasonOf } from './failures.js';
import { Gate } from './gate.js';

/** What is missing for it, as the end of a sentence; undefined if nothing that can be seen from here is. */
export async function missingForSuspension(engine: Engine, { isolation, network }: Pick<SandboxSpec, 'isolation' | 'network'>, signal: AbortSignal): Promise<string | undefined> {
  const { docker, endpoint } = await engine.connect();
  const info = (await docker.info()) as { ExperimentalBuild?: boolean; SecurityOptions?: readonly string[] | null };
  signal.throwIfAborted();
  if (!info.ExperimentalBuild) return 'the engine does not run with experimental features: write `"experimental": true` into its /etc/docker/daemon.json and restart it';
  if (info.SecurityOptions?.some((option) => /name=rootless/.test(option))) return 'this engine runs as an ordinary user, and saving processes needs root';
  // gVisor's kernel saves itself.
  if (isolation !== 'gvisor') return missingCriu(endpoint, signal);
  return typeof network === 'string' ? undefined : 'with gVisor the connection to the proxy for the allowed hosts would not be saved';
}

/** What the client has and its types leave out. */
type Checkpointed = Docker.Container & { createCheckpoint(options: object): Promise<void>; deleteCheckpoint(name: string, options: object): Promise<void> };

/** Between attempts while the engine still has something in the way, and for how long: a collection comes after some seconds. */
const RETRY_MS = 200;
const IN_THE_WAY_MS = 60_000;
const END_TIMEOUT_MS = 60_000;

/**
 * Saves and ends the processes of a container that is not removed by its end. Returns the checkpoint's name when it has ended. When this rejects they go on,
 * unless the engine lost them: then the container has ended.
 */
export async function suspendContainer(container: Docker.Container): Promise<string> {
  const checkpoint = randomBytes(6).toString('hex');
  // Not bound to a signal: a request that is cut has been heard all the same.
  await (container as Checkpointed).createCheckpoint({ checkpointId: checkpoint, exit: true });
  // The engine has answered before it knows of the end, and starts nothing that runs.
  await within('Waiting for the end of the processes', undefined, END_TIMEOUT_MS, (abortSignal) => container.wait({ condition: 'not-running', abortSignal }));
  return checkpoint;
}

/** Has the processes go on, behind a connection of their own, and removes the checkpoint. When this rejects it is still there. */
export async function resumeContainer(container: Docker.Container, checkpoint: string, signal: AbortSignal): Promise<Gate> {
  for (const until = performance.now() + IN_THE_WAY_MS; ; ) {
    const gate = await Gate.attach(container, signal);
    try {
      await container.start({ _query: { checkpoint }, _body: {}, abortSignal: signal } as object);
      await (container as Checkpointed).deleteCheckpoint(checkpoint, {}).catch(() => undefined);
      return gate;
    } catch (error) {
      gate.destroy();
      // containerd keeps what it handed over when the checkpoint was made until it next collects garbage, and takes nothing twice: https://github.com/moby/moby/issues/42900.
      // It may not have forgotten the processes that ended either.
      if (!/already (exists|in use)/.test(reasonOf(error)) || performance.now() > until) throw error;
    }
    await pause(RETRY_MS, undefined, { signal });
  }
}
