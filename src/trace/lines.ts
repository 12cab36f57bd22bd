/** Lines of a file of any size, found without holding them. */
import { windows, type Bytes, type Span } from './bytes.js';

const NEWLINE = 10;

/** A line's range without its newline; `head` is how it begins, at most so many bytes as were asked for. */
export interface Line extends Span {
  readonly head: Buffer;
}

/**
 * Hands over every whole line of the range; returns where the last of them ended, its newline included. `head` is valid during the call only.
 * A line without a newline at the end of the range is not handed over.
 */
export async function eachLine(bytes: Bytes, range: Span, headBytes: number, each: (line: Line) => void | Promise<void>, signal?: AbortSignal): Promise<number> {
  let start = range.start;
  /** The beginning of a line that goes on in the next window. */
  let carried = Buffer.alloc(0);
  for await (const { at, data } of windows(bytes, range, signal)) {
    let from = 0;
    for (let newline = data.indexOf(NEWLINE); newline >= 0; newline = data.indexOf(NEWLINE, from)) {
      const own = data.subarray(from, Math.min(newline, from + headBytes));
      const head = carried.length ? Buffer.concat([carried, own]).subarray(0, headBytes) : own;
      carried = Buffer.alloc(0);
      const done = each({ start, end: at + newline, head });
      if (done) await done;
      from = newline + 1;
      start = at + from;
    }
    if (carried.length < headBytes) carried = Buffer.concat([carried, data.subarray(from, from + headBytes - carried.length)]);
  }
  return start;
}
