/** Where a recorded step can be reached again: the snapshot that its episode was restored from, and the actions up to it. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { EpisodeId } from '../../rollout/episode.js';
import type { SnapshotRecord } from '../../store/records.js';
import type { StartEvent } from '../../trace/events.js';
import type { TraceReader } from '../../trace/model.js';
import type { Engine } from '../engine.js';

/** A step of a trace, as the trace view and `rl-sandboxes trace` number them. */
export interface TracePlace {
  /** Path of the trace, or of the folder of its episode. */
  readonly trace: string;
  /** From 0, in the order of the file. */
  readonly step: number;
}

export interface Origin {
  /** Absolute. */
  readonly trace: string;
  /** Number of the last action that led there, by which the native trace counts; 0 if none did. */
  readonly step: number;
  readonly start: StartEvent;
  readonly id: EpisodeId;
  /** Absolute path of the template, where anything still says so. */
  readonly file?: string;
  /** How long the episode might act, in milliseconds. */
  readonly timeoutMs?: number;
}

/** The snapshot of an episode is not there any more. */
export class SnapshotGone extends Error {
  constructor(why: string) {
    super(`${why}; what its template builds now can take its place, and each step is held against the trace`);
    this.name = 'SnapshotGone';
  }
}

/** Rejects with one sentence if the trace is not one that can be taken up again. */
export async function originOf(engine: Engine, { trace, step }: TracePlace, signal: AbortSignal): Promise<Origin> {
  const { openTrace, traceFile } = await import('../../trace/open.js');
  const path = await traceFile(resolve(trace));
  if (!(await stat(path).then((found) => found.isFile(), () => false))) throw new Error(`there is no trace ${path}`);
  const reader = await openTrace(path, { signal });
  try {
    const { format, extra } = await reader.head();
    if (format !== 'native' || extra === undefined) throw new Error(`${path} is ${format === 'native' ? 'a trace without a beginning' : `a trace of the format ${format}`}: only steps that were recorded here can be reached again`);
    const start = extra as StartEvent;
    const run = start.run === undefined ? undefined : await engine.runs.read(start.run).catch(() => undefined);
    const file = run?.file ?? (start.snapshot === undefined ? undefined : (await engine.snapshots.find(start.snapshot).catch(() => undefined))?.file);
    const { episode, seed, sample } = start;
    return { trace: path, step: await lastAction(reader, step, signal), start, id: { episode, seed, sample }, file, timeoutMs: run?.timeoutMs };
  } finally {
    await reader.close();
  }
}

/** Steps that are looked at together. */
const WINDOW = 100;

async function lastAction(reader: TraceReader, index: number, signal: AbortSignal): Promise<number> {
  if (index >= (await reader.head()).steps) await reader.settled(signal);
  const { steps } = await reader.head();
  if (index >= steps) throw new Error(`there is no step ${index}: the trace has ${steps}, from 0`);
  for (let to = index + 1; to > 0; to -= WINDOW) {
    const rows = await reader.summaries(Math.max(0, to - WINDOW), to, signal);
    const found = rows.findLast(({ step }) => step !== undefined);
    if (found) return found.step!;
  }
  return 0;
}

/** The snapshot of an origin, if its provider still has it. Rejects with `SnapshotGone`. */
export async function snapshotOf(engine: Engine, { start: { snapshot: id, provider: name } }: Origin, signal: AbortSignal): Promise<SnapshotRecord> {
  if (id === undefined) throw new SnapshotGone('the trace names no snapshot');
  const snapshot = await engine.snapshots.find(id).catch((error: Error) => Promise.reject(new SnapshotGone(error.message)));
  const provider = await engine.providers.get(snapshot.provider);
  if (!(await provider.hasSnapshot(snapshot, { signal }))) throw new SnapshotGone(`the snapshot ${id} is in the registry, but ${name} does not have it any more`);
  return snapshot;
}
