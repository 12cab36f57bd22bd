/** A program that is spoken to in lines: one request out, one answer in. */
import type { Readable, Writable } from 'node:stream';

/** A longer answer is no answer. */
const LONGEST_LINE = 64 << 20;

/** The program has ended, or does not speak in lines. */
export class LinesEnded extends Error {}

export class LinePeer {
  private readonly chunks: AsyncIterator<Buffer>;
  private rest: Buffer[] = [];

  constructor(
    private readonly input: Writable,
    output: Readable,
  ) {
    this.chunks = (output as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    // A program that has ended cannot be written to; that it has ended is told by its output.
    input.on('error', () => undefined);
  }

  send(value: unknown): void {
    this.input.write(`${JSON.stringify(value)}\n`);
  }

  /** The next line that is not blank, without its end. Rejects with `LinesEnded`, or with an error of the stream. */
  async receive(): Promise<string> {
    for (;;) {
      const line = await this.line();
      if (line.trim() !== '') return line;
    }
  }

  end(): void {
    this.input.end();
  }

  private async line(): Promise<string> {
    let size = this.rest.reduce((sum, { length }) => sum + length, 0);
    for (let scanned = 0; ; ) {
      for (; scanned < this.rest.length; scanned++) {
        const chunk = this.rest[scanned]!;
        const end = chunk.indexOf(10);
        if (end < 0) continue;
        const text = Buffer.concat([...this.rest.slice(0, scanned), chunk.subarray(0, end)]).toString();
        this.rest = [chunk.subarray(end + 1), ...this.rest.slice(scanned + 1)];
        return text;
      }
      if (size > LONGEST_LINE) throw new LinesEnded(`it wrote a line of more than ${LONGEST_LINE} bytes`);
      const next = await this.chunks.next();
      if (next.done) throw new LinesEnded('it has ended');
      this.rest.push(Buffer.from(next.value));
      size += next.value.length;
    }
  }
}
