/** Output of a command in bounded memory: its beginning, its end, and how much fell between. */
import type { Readable } from 'node:stream';
import { Ring } from './ring.js';
import { decode, trimEnd, trimStart } from './utf8.js';

const DEFAULT_KEEP = 256 * 1024;

const isBlank = (line: string): boolean => /^[ \t\v\f]*$/.test(line);

export interface Line {
  readonly text: string;
  /** False if the line's beginning was not kept. */
  readonly complete: boolean;
}

/** Collects a stream of bytes. What is written counts in full; what is kept is at most `head` + `tail` bytes. */
export class OutputCapture {
  private readonly first: Ring;
  private readonly last: Ring;
  private readonly headLimit: number;
  private written = 0;

  constructor({ head = DEFAULT_KEEP, tail = DEFAULT_KEEP }: { readonly head?: number; readonly tail?: number } = {}) {
    this.headLimit = head;
    this.first = new Ring(head);
    this.last = new Ring(tail);
  }

  write(chunk: Uint8Array): void {
    this.written += chunk.length;
    const forHead = Math.min(chunk.length, this.headLimit - this.first.length);
    if (forHead > 0) this.first.push(chunk.subarray(0, forHead));
    if (forHead < chunk.length) this.last.push(chunk.subarray(forHead));
  }

  /** Bytes that were written. */
  get total(): number {
    return this.written;
  }

  /** Bytes that are not kept. Both ends are cut between characters, so it can be up to six more than what did not fit. */
  get dropped(): number {
    const { head, tail } = this.kept();
    return this.written - head.length - tail.length;
  }

  /** The bytes as they were written; where some fell between, a line of its own says how many. */
  bytes(): Uint8Array {
    const { head, tail } = this.kept();
    const dropped = this.written - head.length - tail.length;
    if (dropped === 0) return Buffer.concat([head, tail]);
    const newline = head.length === 0 || head.at(-1) === 0x0a ? '' : '\n';
    return Buffer.concat([head, Buffer.from(`${newline}[... ${dropped} bytes were not kept ...]\n`), tail]);
  }

  /** What is kept, decoded, without a line for the gap: how many bytes fell out, and where in the text. */
  parts(): { readonly text: string; readonly dropped?: number; readonly droppedAt?: number } {
    const { head, tail } = this.kept();
    const dropped = this.written - head.length - tail.length;
    if (dropped === 0) return { text: decode(Buffer.concat([head, tail])) };
    const before = decode(head);
    return { text: before + decode(tail), dropped, droppedAt: before.length };
  }

  /** `bytes()` decoded; what is not UTF-8 is U+FFFD. */
  text(): string {
    return decode(this.bytes());
  }

  /** The last line that is not blank, or undefined if there is none. */
  lastLine(): Line | undefined {
    return this.lastLines(1)[0];
  }

  /**
   * Up to `count` lines that are not blank, the last one first. Lines end at a line feed, a carriage return (what a progress bar
   * overwrites is a line of its own) or both; one that is only spaces and tabs is blank.
   */
  lastLines(count: number): Line[] {
    const { head, tail } = this.kept();
    const cut = head.length + tail.length < this.written;
    const all = decode(cut ? tail : Buffer.concat([head, tail])).split(/[\r\n]/);
    const lines: Line[] = [];
    for (let index = all.length - 1; index >= 0 && lines.length < count; index--) {
      const complete = index > 0 || !cut;
      if (!complete || !isBlank(all[index]!)) lines.push({ text: all[index]!, complete });
    }
    return lines;
  }

  private kept(): { head: Uint8Array; tail: Uint8Array } {
    const [head, tail] = [this.first.bytes(), this.last.bytes()];
    if (head.length + tail.length === this.written) return { head, tail };
    return { head: trimEnd(head), tail: trimStart(tail) };
  }
}

/** Writes all of a stream. Rejects with the stream's error; what came before it is written. */
export async function consume(stream: Readable, ...captures: readonly OutputCapture[]): Promise<void> {
  for await (const chunk of stream as AsyncIterable<Uint8Array | string>) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    for (const capture of captures) capture.write(bytes);
  }
}
