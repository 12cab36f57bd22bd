/** What a service writes: its last part, read on from any place. */
import { Ring } from './ring.js';
import { decode, trimEnd, trimStart } from './utf8.js';

const KEEP_BYTES = 256 << 10;

export class ServiceLog {
  private readonly kept = new Ring(KEEP_BYTES);
  private written = 0;

  write(chunk: Uint8Array): void {
    this.written += chunk.length;
    this.kept.push(chunk);
  }

  /** Bytes that were written. */
  get total(): number {
    return this.written;
  }

  /** The last part, as it was written. */
  bytes(): Uint8Array {
    return this.kept.bytes();
  }

  /** What was written from a byte on, cut between characters: `next` is where to go on, `dropped` how many bytes before are not kept. */
  read(from: number): { readonly text: string; readonly next: number; readonly dropped: number } {
    const bytes = this.kept.bytes();
    const first = this.written - bytes.length;
    const at = Math.min(Math.max(from, first), this.written);
    const dropped = Math.max(0, first - Math.max(0, from));
    const rest = bytes.subarray(at - first);
    const whole = trimEnd(rest);
    return { text: decode(dropped > 0 ? trimStart(whole) : whole), next: at + whole.length, dropped };
  }

  /** The last line that is not blank. */
  lastLine(): string | undefined {
    return decode(trimStart(this.kept.bytes()))
      .split(/[\r\n]+/)
      .findLast((line) => line.trim() !== '');
  }
}
