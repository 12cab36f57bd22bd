/** Sandboxes for people: from a template, from a snapshot, from another sandbox. */
import { LONGEST_LIFE_MS } from '../../rollout/episode.js';
import { holdGpus, type HeldGpus } from '../../rollout/gpus.js';
import { settingsOf } from '../../rollout/settings.js';
import type { Provider, Sandbox, SandboxLabels, SnapshotKind } from '../../sandbox/provider.js';
import type { SnapshotRecord } from '../../store/records.js';
import { loadTemplate } from '../../template/load.js';
import { TemplateError, type ServiceSpec, type Template } from '../../template/template.js';
import type { Engine } from '../engine.js';
import type { Held, Making } from './held.js';
import { Refusals } from './refusals.js';
import { takeSnapshot } from '../snapshots/take.js';

/** How long a sandbox stays if nobody says. */
const DEFAULT_KEEP_MS = 3_600_000;

/** The best shell that a sandbox has. It leaves no history: that would be a change to the sandbox. */
export const SHELL: readonly string[] = ['sh', '-c', 'export HISTFILE=; command -v bash >/dev/null 2>&1 && exec bash; exec sh'];

export interface OpenRequest {
  /** Absolute path of a template, or the id of a snapshot: one of the two. */
  readonly file?: string;
  readonly snapshot?: string;
  readonly provider?: string;
  /** Milliseconds; negative until somebody ends it. */
  readonly keepMs?: number;
  readonly signal: AbortSignal;
  readonly onOutput?: (text: string) => void;
}

/** Rejects as a build does, with `ServiceFailed`, or with an infrastructure error; then no sandbox is left. */
export async function openSandbox(engine: Engine, request: OpenRequest): Promise<Held> {
  const signal = AbortSignal.any([request.signal, engine.held.closing]);
  if (request.snapshot !== undefined) {
    const snapshot = await engine.snapshots.find(request.snapshot);
    const provider = await engine.providers.get(snapshot.provider);
    const { services, ...making } = await makingOf(engine, snapshot, provider);
    return restore(engine, making, services, request.keepMs, signal);
  }
  if (request.file === undefined) throw new Error('a sandbox is opened from a template or from a snapshot');
  const { snapshot, template, choice } = await engine.build(request.file, { provider: request.provider, signal, onOutput: request.onOutput });
  const secrets = await engine.secrets(template);
  return restore(engine, { origin: 'opened', provider: choice.provider, snapshot, spec: settingsOf(template, secrets), secrets, file: template.file }, template.services, request.keepMs, signal);
}

/** A sandbox with the files of another one as they are now, and none of its processes. */
export async function forkSandbox(engine: Engine, id: string, keepMs: number | undefined, outer: AbortSignal): Promise<Held> {
  const [fork] = await forkSandboxes(engine, id, { kind: 'filesystem', count: 1, keepMs }, outer);
  if (fork!.status === 'rejected') throw fork!.reason;
  return fork!.value;
}

/** As many as are asked for, of one moment; with `memory` what runs goes on in each of them. Rejects if the snapshot cannot be taken that all are of. */
export async function forkSandboxes(engine: Engine, id: string, { kind, count, keepMs }: { readonly kind: SnapshotKind; readonly count: number; readonly keepMs?: number }, outer: AbortSignal): Promise<PromiseSettledResult<Held>[]> {
  const signal = AbortSignal.any([outer, engine.held.closing]);
  const { sandbox, making } = engine.held.get(id);
  const snapshot = await takeSnapshot(engine, sandbox, making, kind, { temporary: engine.owner }, signal);
  let users = count;
  const cleanUp = async (): Promise<void> => {
    if (--users === 0) await engine.builds.remove(snapshot, making.provider).catch(() => undefined);
  };
  // Its services are not started again: what they have written is there, and their second start may not expect it.
  return Promise.allSettled(Array.from({ length: count }, () => restore(engine, { ...making, origin: 'forked', snapshot, cleanUp }, [], keepMs, signal)));
}

/** Whatever becomes of it, what it needed is given back. */
export async function restore(engine: Engine, made: Making, services: readonly ServiceSpec[], keepMs = DEFAULT_KEEP_MS, signal: AbortSignal): Promise<Held> {
  const { provider, snapshot, spec } = made;
  const refusals = new Refusals();
  let letGo: (() => void) | undefined;
  let gpus: HeldGpus | undefined;
  const cleanUp = async (): Promise<void> => {
    letGo?.();
    gpus?.release();
    await made.cleanUp?.();
  };
  let sandbox: Sandbox;
  try {
    letGo = engine.uses.hold(snapshot.id);
    const labels: SandboxLabels = { owner: engine.owner, template: snapshot.template, digest: snapshot.digest, snapshot: snapshot.id, expires: Date.now() + LONGEST_LIFE_MS };
    gpus = await holdGpus([{ provider, resources: spec.resources }], signal);
    sandbox = await provider.restore(snapshot, { ...spec, resources: gpus.resources[0]!, labels, suspendable: true, onNetwork: refusals.note, lifetimeMs: LONGEST_LIFE_MS }, { signal });
  } catch (error) {
    await cleanUp();
    throw error;
  }
  const held = await engine.held.hold(sandbox, { ...made, cleanUp, refusals }, keepMs);
  try {
    await held.startServices(services, signal);
    signal.throwIfAborted();
    return held;
  } catch (error) {
    await held.terminate();
    throw error;
  }
}

/** What sandboxes of a snapshot get: what its template says now, if it can be read, else what it said then. */
export async function makingOf(engine: Engine, snapshot: SnapshotRecord, provider: Provider): Promise<Making & { readonly services: readonly ServiceSpec[] }> {
  const template = await templateOf(snapshot);
  const secrets = template ? await engine.secrets(template) : {};
  const settings = snapshot.settings ?? { resources: {}, env: {}, network: 'none' as const };
  const memory = snapshot.kind === 'memory';
  // What runs in it cannot be given others.
  const { network, isolation, user, writable } = settings;
  const spec = { ...(template ? settingsOf(template, secrets) : settings), ...(memory && { network, isolation, user, writable }) };
  // What a memory snapshot holds of services goes on running.
  return { origin: 'opened', provider, snapshot, spec, secrets, file: template?.file, services: memory ? [] : (template?.services ?? []) };
}

/** The template of a snapshot as it is now, if it can be read. */
async function templateOf({ file }: SnapshotRecord): Promise<Template | undefined> {
  if (file === '') return undefined;
  return loadTemplate(file).catch((error: unknown) => {
    if (error instanceof TemplateError) return undefined;
    throw error;
  });
}
