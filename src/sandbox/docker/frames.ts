/**
 * Takes apart the stream of an attached container or exec: frames of 8 bytes of header (stream 1 or 2, three zeros, length as big-endian
 * 32 bits) and content, see "Stream format" in Docker's API reference. Frames may be of any size and split anywhere; nothing is gathered.
 */
import type { Duplex } from 'node:stream';
import type { OutputConsumer } from '../marked/commandOutput.js';

const HEADER = 8;

export class FrameReader {
  private readonly header = Buffer.alloc(HEADER);
  private inHeader = 0;
  private left = 0;
  private stream: 'stdout' | 'stderr' = 'stdout';
  /** Settles when the connection has ended, however it did. */
  readonly closed: Promise<void>;

  constructor(
    private readonly socket: Duplex,
    public consumer: OutputConsumer,
  ) {
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    // What broke the connection is found out by asking the engine.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once('end', resolve);
      socket.once('close', resolve);
    });
  }

  resume(): void {
    this.socket.resume();
  }

  private take(chunk: Buffer): void {
    let go = true;
    for (let at = 0; at < chunk.length; ) {
      if (this.left > 0) {
        const piece = chunk.subarray(at, at + this.left);
        at += piece.length;
        this.left -= piece.length;
        go = this.consumer.data(this.stream, piece) && go;
        continue;
      }
      const part = Math.min(HEADER - this.inHeader, chunk.length - at);
      chunk.copy(this.header, this.inHeader, at, at + part);
      at += part;
      this.inHeader += part;
      if (this.inHeader < HEADER) break;
      this.inHeader = 0;
      this.stream = this.header[0] === 2 ? 'stderr' : 'stdout';
      this.left = this.header.readUInt32BE(4);
    }
    if (!go) this.socket.pause();
  }
}
