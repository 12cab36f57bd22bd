/** Lines of a file of any size, found without holding them. */
import { windows, type Bytes, type Span } from './bytes.js';

const NEWLINE = 10;

/** A line's range without its newline; `head` is how it begins, at most so many bytes as were asked for, as Latin-1. */
export interface Line extends Span {
  readonly head: string;
}

/**
 * Hands over every whole line of the range; returns where the last of them ended, its newline included. A line without a newline at the end
 * of the range is not handed over.
 */
export async function eachLine(bytes: Bytes, range: Span, headBytes: number, each: (line: Line) => void | Promise<void>, signal?: AbortSignal): Promise<number> {
  let start = range.start;
  /** The beginning of a line that goes on in the next window. */
  let carried = '';
  for await (const { at, data } of windows(bytes, range, { passing: true, signal })) {
    let from = 0;
    for (let newline = data.indexOf(NEWLINE); newline >= 0; newline = data.indexOf(NEWLINE, from)) {
      const head = carried + data.toString('latin1', from, Math.min(newline, from + headBytes - carried.length));
      carried = '';
      const done = each({ start, end: at + newline, head });
      if (done) await done;
      from = newline + 1;
      start = at + from;
    }
    carried += data.toString('latin1', from, from + headBytes - carried.length);
  }
  return start;
}
