/** What the commands share that look at a trace, or go back to a step of one. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { clearLine, cursorTo } from 'node:readline';
import { Option } from 'commander';
import type { Engine } from '../engine/engine.js';
import { SnapshotGone } from '../engine/sandboxes/origin.js';
import { TRACE_FILE } from '../trace/writer.js';
import { wholeNumberFrom0 } from './options.js';
import type { Session } from './session.js';

export const STEP = new Option('--step <k>', 'of a trace: the step after which the sandbox is as it was then, as `trace FILE` numbers them').argParser(wholeNumberFrom0);
export const CURRENT = new Option('--current', 'with --step: start from what the template builds now, where the snapshot of then is gone');

/** The path of a trace that is named as a file, as a folder, or as an episode of a run. */
export async function traceNamed(engine: Engine, name: string): Promise<string> {
  const isThere = (path: string): Promise<boolean> => access(path).then(() => true, () => false);
  if (await isThere(name)) return name;
  const [, run, episode] = /^(.+):(\d+)$/.exec(name) ?? [];
  if (run === undefined) throw new Error(`there is no file ${name}: expected a trace, the folder of an episode, or RUN:EPISODE such as latest:3`);
  const { id } = await engine.runs.find(run);
  const file = join(engine.layout.episode(id, Number(episode)), TRACE_FILE);
  if (!(await isThere(file))) throw new Error(`run ${id} has no trace of episode ${episode}: it has not run`);
  return file;
}

/** Adds the way out to a refusal for want of a snapshot. */
export const orCurrent = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw error instanceof SnapshotGone ? new Error(`${error.message} (--current)`, { cause: error }) : error;
  });

/** A line on standard error that is replaced by the next one; nothing where that is no terminal. */
export class Counter {
  private readonly stream = process.stderr;
  private readonly shows: boolean;

  constructor({ json }: Session) {
    this.shows = !json && Boolean(this.stream.isTTY);
  }

  show(text: string): void {
    this.end();
    if (this.shows) this.stream.write(text);
  }

  end(): void {
    if (!this.shows) return;
    cursorTo(this.stream, 0);
    clearLine(this.stream, 0);
  }
}
