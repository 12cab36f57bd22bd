/** What a terminal shows. Nothing marks its end but the end of the connection. */
import { Readable } from 'node:stream';
import type { Listener } from './service.js';

/** Bytes that are held for the reader before the command is made to wait. */
const BUFFER_BYTES = 128 << 10;

export class TerminalOutput implements Listener {
  readonly stdout = new Readable({ highWaterMark: BUFFER_BYTES, read: () => this.onWanted(), destroy: (error, done) => (this.release(), done(error)) });
  readonly stderr = Readable.from([]);
  readonly report = new Promise<never>(() => undefined);
  onWanted: () => void = () => undefined;
  private released = false;
  private over = false;

  data(_: 'stdout' | 'stderr', bytes: Buffer): boolean {
    if (this.over || this.stdout.destroyed) return true;
    return this.stdout.push(bytes) || this.released;
  }

  /** What still comes is taken without waiting for the reader. */
  release(): void {
    this.released = true;
    this.onWanted();
  }

  end(): void {
    if (this.over) return;
    this.over = true;
    this.stdout.push(null);
    this.release();
  }
}
