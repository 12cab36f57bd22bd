/** What the commands share that go back to a step of a trace. */
import { clearLine, cursorTo } from 'node:readline';
import { Option } from 'commander';
import { SnapshotGone } from '../engine/sandboxes/origin.js';
import { wholeNumberFrom0 } from './options.js';
import type { Session } from './session.js';

export const STEP = new Option('--step <k>', 'of a trace: the step after which the sandbox is as it was then, as `trace FILE` numbers them').argParser(wholeNumberFrom0);
export const CURRENT = new Option('--current', 'with --step: start from what the template builds now, where the snapshot of then is gone');

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
