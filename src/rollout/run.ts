/**
 * A run: many episodes side by side. Each finished one is on disk before it is reported. What is missing after a crash or a cancel is
 * what a resume runs.
 */
import { setMaxListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EpisodeLog } from '../store/episodeLog.js';
import type { EpisodeRecord, RunRecord } from '../store/records.js';
import { seedAt, seedCount } from '../template/template.js';
import { SHORT_BYTES } from '../trace/writer.js';
import { runEpisode, type EpisodeContext, type EpisodeFolder, type EpisodeId } from './episode.js';
import { Limiter } from './limiter.js';

export interface RunEvents {
  /** An episode began. */
  readonly onStart?: (id: EpisodeId) => void;
  /** An episode is finished and on disk. */
  readonly onFinish?: (record: EpisodeRecord) => void;
}

export interface RunContext extends RunEvents, Omit<EpisodeContext, 'creation' | 'folder' | 'timeoutMs'> {
  /** As the provider's capabilities have it. */
  readonly restoresAtOnce?: number;
  readonly log: EpisodeLog;
  /** Folder of one episode's files. */
  readonly episodeFolder: (episode: number) => string;
  /** Episodes that are finished already. */
  readonly done: ReadonlySet<number>;
}

/** Rejects with the signal's reason, or with what made the run impossible to go on; what finished stays. No sandbox is left in either case. */
export async function runEpisodes(context: RunContext, signal: AbortSignal): Promise<void> {
  const { run, log } = context;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  setMaxListeners(0, either);
  const pending = missingEpisodes(run, context.done);
  const episodeContext: EpisodeContext = {
    ...context,
    timeoutMs: run.timeoutMs,
    creation: new Limiter(context.restoresAtOnce ?? Infinity),
    folder: (episode) => new Folder(context.episodeFolder(episode)),
  };

  const worker = async (): Promise<void> => {
    for (const id of pending) {
      if (either.aborted) return;
      context.onStart?.(id);
      try {
        const record = await runEpisode(id, episodeContext, either);
        await log.append(record);
        context.onFinish?.(record);
      } catch (error) {
        stop.abort(error);
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(run.concurrency, run.total) }, worker));
  either.throwIfAborted();
}

/** Shared by all workers: each takes the next. Nothing is as long as the run. */
function* missingEpisodes(run: RunRecord, done: ReadonlySet<number>): Generator<EpisodeId> {
  for (const episode of run.only ?? range(seedCount(run.seeds) * run.samples)) {
    if (done.has(episode)) continue;
    yield { episode, seed: seedAt(run.seeds, Math.floor(episode / run.samples)), sample: episode % run.samples };
  }
}

function* range(end: number): Generator<number> {
  for (let index = 0; index < end; index++) yield index;
}

class Folder implements EpisodeFolder {
  readonly artifacts: string;

  constructor(readonly path: string) {
    this.artifacts = join(path, 'artifacts');
  }

  async writeOutput(outputs: Parameters<EpisodeFolder['writeOutput']>[0]): Promise<void> {
    for (const [name, capture] of Object.entries(outputs)) {
      if (capture.total === 0) continue;
      const [file, bytes] = [join(this.path, `${name}.log`), capture.bytes()];
      if (bytes.length <= SHORT_BYTES) writeFileSync(file, bytes);
      else await writeFile(file, bytes);
    }
  }
}
