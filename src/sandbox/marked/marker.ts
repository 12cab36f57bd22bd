/** Finds the line that ends a command's output: a nonce that nothing else can print, and what follows it up to the end of the line. */
import { randomBytes } from 'node:crypto';

export const newNonce = (): string => randomBytes(16).toString('hex');

export class MarkerScanner {
  private readonly nonce: Buffer;
  /** Bytes at the end of what came so far that may be the beginning of the nonce. */
  private held: Buffer = Buffer.alloc(0);
  private line: Buffer | undefined;
  /** What follows the nonce on its line, once that is complete. */
  found: string | undefined;

  constructor(nonce: string) {
    this.nonce = Buffer.from(nonce, 'latin1');
  }

  /** Takes a piece and gives the bytes that certainly are output. What comes after the marker's line is dropped. */
  push(piece: Buffer): Buffer {
    if (this.found !== undefined) return EMPTY;
    if (this.line) {
      this.complete(piece);
      return EMPTY;
    }
    const data = this.held.length ? Buffer.concat([this.held, piece]) : piece;
    const at = data.indexOf(this.nonce);
    if (at >= 0) {
      this.line = EMPTY;
      this.complete(data.subarray(at + this.nonce.length));
      return data.subarray(0, at);
    }
    const keep = this.possibleStart(data);
    // A copy: the piece belongs to a much larger buffer.
    this.held = keep ? Buffer.from(data.subarray(data.length - keep)) : EMPTY;
    return data.subarray(0, data.length - keep);
  }

  /** What is held back, when no more will come. */
  rest(): Buffer {
    const rest = this.line ? EMPTY : this.held;
    this.held = EMPTY;
    return rest;
  }

  private complete(piece: Buffer): void {
    this.line = Buffer.concat([this.line!, piece]);
    const end = this.line.indexOf(0x0a);
    if (end >= 0) this.found = this.line.toString('latin1', 0, end).trim();
  }

  /** Length of the longest end of `data` that the nonce begins with. */
  private possibleStart(data: Buffer): number {
    for (let length = Math.min(this.nonce.length - 1, data.length); length > 0; length--) {
      if (data.compare(this.nonce, 0, length, data.length - length) === 0) return length;
    }
    return 0;
  }
}

const EMPTY = Buffer.alloc(0);
