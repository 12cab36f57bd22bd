/** A live sandbox as one was after a recorded step: its snapshot is restored, the actions up to there are taken again, and held against the trace. */
import { EpisodeLimit } from '../../rollout/policies/policy.js';
import { OutputCapture } from '../../rollout/output.js';
import { retrace } from '../../rollout/retrace/retrace.js';
import { Stage } from '../../rollout/stage.js';
import { TraceWriter } from '../../trace/writer.js';
import type { Engine } from '../engine.js';
import type { Held } from './held.js';
import { makingOf, restore, type OpenRequest } from './open.js';
import { originOf, snapshotOf, type Origin, type TracePlace } from './origin.js';

/** Where nothing says how long the episode might act. */
const TIMEOUT_MS = 3_600_000;

export interface TravelRequest extends TracePlace, Pick<OpenRequest, 'keepMs' | 'signal' | 'onOutput'> {
  /** Whether what the template builds now takes the place of the snapshot. */
  readonly current?: boolean;
  /** A step was taken, of so many. */
  readonly onStep?: (step: number, of: number) => void;
}

export interface Arrival {
  readonly held: Held;
  /** Number of the step. */
  readonly step: number;
  /** The first observation that is another one than was recorded: the sandbox is not as it was then. */
  readonly difference?: string;
}

/** Rejects as `openSandbox` does, with `SnapshotGone`, or with one sentence; then no sandbox is left. */
export async function openSandboxAt(engine: Engine, request: TravelRequest): Promise<Arrival> {
  const signal = AbortSignal.any([request.signal, engine.held.closing]);
  const origin = await originOf(engine, request, signal);
  const { services, ...making } = await sourceOf(engine, origin, { ...request, signal });
  const { seed, sample, episode } = origin.id;
  const env = { ...making.spec.env, RL_SEED: String(seed), RL_SAMPLE: String(sample), RL_EPISODE: String(episode) };
  const held = await restore(engine, { ...making, spec: { ...making.spec, env } }, services, request.keepMs, signal);
  try {
    const difference = await takeAgain(held, origin, request, AbortSignal.any([signal, held.ended]));
    signal.throwIfAborted();
    return { held, step: origin.step, ...(difference === undefined ? {} : { difference }) };
  } catch (error) {
    await held.terminate();
    throw error;
  }
}

async function sourceOf(engine: Engine, origin: Origin, { current = false, signal, onOutput }: TravelRequest): ReturnType<typeof makingOf> {
  if (!current) {
    const snapshot = await snapshotOf(engine, origin, signal);
    return makingOf(engine, snapshot, await engine.providers.get(snapshot.provider));
  }
  if (origin.file === undefined) throw new Error(`nothing says which template ${origin.trace} was recorded with`);
  const { snapshot, choice } = await engine.build(origin.file, { provider: origin.start.provider, signal, onOutput });
  return makingOf(engine, snapshot, choice.provider);
}

async function takeAgain(held: Held, { trace, step, id, timeoutMs = TIMEOUT_MS }: Origin, { onStep }: TravelRequest, signal: AbortSignal): Promise<string | undefined> {
  const { sandbox, redactor } = held;
  // Nobody reads what is recorded: it is held against what was.
  const stage = new Stage({ id, sandbox, redactor, timeoutMs, signal, trace: new TraceWriter({ redact: (text) => redactor.text(text) }), output: { stdout: new OutputCapture(), stderr: new OutputCapture() } });
  try {
    const { difference } = await retrace(stage, trace, { to: step, stay: true, onStep: (taken) => onStep?.(taken, step) });
    return difference?.replace(/^difference: /, '');
  } catch (error) {
    if (error instanceof EpisodeLimit) throw new Error(`the actions up to step ${step} could not be taken again: the episode ${error.message}`, { cause: error });
    throw error;
  } finally {
    await stage.trace.close();
    stage.close();
  }
}
