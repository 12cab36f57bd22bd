/** What a run needs that begins where a recorded episode was after a step. */
import type { ForkOrigin } from '../../store/records.js';
import type { Engine, RunRequest } from '../engine.js';
import { originOf, snapshotOf, type TracePlace } from './origin.js';

export interface ForkRequest extends TracePlace, Pick<RunRequest, 'policy' | 'samples' | 'concurrency' | 'timeoutMs'> {
  /** Whether what the template builds now takes the place of the snapshot. */
  readonly current?: boolean;
}

/** Rejects with one sentence if nobody can go on from there. */
export async function forkOf(engine: Engine, request: ForkRequest): Promise<{ readonly file: string; readonly provider: string; readonly seed: number; readonly timeoutMs?: number; readonly fork: ForkOrigin }> {
  const { closing } = engine.held;
  const origin = await originOf(engine, request, closing);
  const { trace, step, start, id, file, timeoutMs } = origin;
  if (request.policy === 'replay') throw new Error('the policy `replay` takes a whole trace again: `rl-sandboxes replay RUN` does that');
  if (start.policy.name === 'gym') throw new Error('what an environment has come to is in its process, with which no other episode can go on: a fork is of traces of commands and of calls of tools');
  if (file === undefined) throw new Error(`nothing says which template ${trace} was recorded with`);
  const snapshot = request.current ? undefined : await snapshotOf(engine, origin, closing);
  return {
    file,
    provider: snapshot?.provider ?? start.provider,
    seed: id.seed,
    timeoutMs,
    fork: { trace, step, run: start.run, episode: id.episode, snapshot: snapshot?.id },
  };
}
