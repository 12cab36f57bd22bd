/** A connection that a program carries: what it writes is what comes, what it reads is what goes. */
import { Duplex, type Readable, type Writable } from 'node:stream';

/**
 * Unlike `Duplex.from`, it still gives all that came when the program has ended: that it reads no more is no failure. It closes when all has been
 * read, since nothing can be sent to a program that has ended.
 */
export class Relayed extends Duplex {
  constructor(
    private readonly from: Readable,
    private readonly to: Writable,
  ) {
    super();
    from.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) from.pause();
    });
    from.once('end', () => this.push(null));
    from.once('error', (error) => this.destroy(error));
    from.once('close', () => {
      if (!from.readableEnded) this.destroy();
    });
    to.on('error', () => undefined);
    this.on('error', () => undefined);
    this.once('end', () => this.destroy());
  }

  override _read(): void {
    this.from.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    if (this.to.destroyed) done();
    else this.to.write(chunk, () => done());
  }

  override _final(done: () => void): void {
    this.to.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.from.destroy();
    this.to.destroy();
    done(error);
  }
}
