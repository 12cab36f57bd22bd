/**
 * Many connections over one stream in each direction, between the relay in a sandbox's network namespace and the proxy here.
 *
 * A frame is a letter, the connection's number (32 bits), a length (16 bits), both big-endian, and so many bytes: `O` a program has connected (the relay
 * only), `D` data, `E` no more data from this side, `C` closed, `W` so many bytes (32 bits) of the other's data have been passed on. `P` asks the relay
 * whether it is there, and is its answer. Neither side has
 * more than `WINDOW` bytes of a connection on the way, so one that is not read holds up no other and takes no more room than that. What a relay says is
 * hostile: in a container it is a process like those that it serves.
 */
import { Duplex, type Readable, type Writable } from 'node:stream';

export const WINDOW = 128 << 10;
const PIECE = 32 << 10;
const HEAD = 7;

/** Connections that are open at once; the relay lets others wait. */
export const MOST_CHANNELS = 64;
/** A relay of ours closes before this; beyond it connections are turned away. */
const MOST_HERE = 4 * MOST_CHANNELS;
const MOST_UNREAD = 2 * MOST_CHANNELS * WINDOW;

export class Channels {
  private readonly open = new Map<number, Channel>();
  private rest: Buffer = Buffer.alloc(0);
  private readonly asked: ((there: boolean) => void)[] = [];
  private over = false;

  constructor(
    private readonly from: Readable,
    private readonly to: Writable,
    private readonly onOpen: (connection: Duplex) => void,
  ) {
    from.on('data', (chunk: Buffer) => this.take(chunk));
    for (const stream of [from, to]) stream.on('error', () => this.end()).once('close', () => this.end());
    from.once('end', () => this.end());
  }

  /** Ends all connections, and the relay by closing what it reads. */
  end(): void {
    if (this.over) return;
    this.over = true;
    for (const channel of this.open.values()) channel.destroy();
    this.open.clear();
    for (const answer of this.asked.splice(0)) answer(false);
    this.to.end();
    this.from.resume();
  }

  /** Whether the relay answers; it is not waited for without end. */
  there(timeoutMs: number): Promise<boolean> {
    if (this.over) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeoutMs);
      this.asked.push((there) => {
        clearTimeout(timer);
        resolve(there);
      });
      this.send('P', 0);
    });
  }

  send(type: string, id: number, data: Uint8Array = Buffer.alloc(0)): void {
    if (this.over || this.to.destroyed) return;
    // No relay of ours leaves so much unread.
    if (this.to.writableLength > MOST_UNREAD) return this.end();
    const head = Buffer.alloc(HEAD);
    head.write(type, 'latin1');
    head.writeUInt32BE(id, 1);
    head.writeUInt16BE(data.length, 5);
    this.to.write(Buffer.concat([head, data]));
  }

  forget(id: number): void {
    this.open.delete(id);
  }

  private take(chunk: Buffer): void {
    if (this.over) return;
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    let at = 0;
    while (!this.over && this.rest.length >= at + HEAD) {
      const length = this.rest.readUInt16BE(at + 5);
      if (this.rest.length < at + HEAD + length) break;
      this.frame(this.rest.toString('latin1', at, at + 1), this.rest.readUInt32BE(at + 1), this.rest.subarray(at + HEAD, at + HEAD + length));
      at += HEAD + length;
    }
    this.rest = this.rest.subarray(at);
  }

  private frame(type: string, id: number, data: Buffer): void {
    const channel = this.open.get(id);
    if (type === 'O' && !channel) {
      if (this.open.size >= MOST_HERE) return this.send('C', id);
      const made = new Channel(id, this);
      this.open.set(id, made);
      this.onOpen(made);
    } else if (type === 'D' || type === 'E' || type === 'C' || type === 'W') {
      // One that is not there has been closed here, and the other side has not heard of it yet.
      if (channel && !channel.frame(type, data)) this.end();
    } else if (type === 'P') this.asked.shift()?.(true);
    else this.end();
  }
}

class Channel extends Duplex {
  /** Bytes that may be sent, and what waits for more. */
  private credit = WINDOW;
  private waiting: { data: Buffer; done: () => void } | undefined;
  /** Bytes that have come and are not told to have been passed on. */
  private owed = 0;
  private ended = false;
  private closed_ = false;

  constructor(
    private readonly id: number,
    private readonly channels: Channels,
  ) {
    super({ allowHalfOpen: true });
    this.on('error', () => undefined);
  }

  /** False if no relay of ours would say so. */
  frame(type: 'D' | 'E' | 'C' | 'W', data: Buffer): boolean {
    if (type === 'W') {
      if (data.length !== 4) return false;
      this.credit += data.readUInt32BE(0);
      if (this.credit > WINDOW) return false;
      this.pump();
    } else if (type === 'D') {
      this.owed += data.length;
      if (this.ended || this.owed > WINDOW) return false;
      // The frame's buffer is shared with others.
      this.push(Buffer.from(data));
    } else if (type === 'E') {
      this.ended = true;
      this.push(null);
    } else {
      this.closed_ = true;
      this.destroy();
    }
    return true;
  }

  override _read(): void {
    if (this.owed === 0) return;
    const passed = Buffer.alloc(4);
    passed.writeUInt32BE(this.owed);
    this.owed = 0;
    this.channels.send('W', this.id, passed);
  }

  override _write(data: Buffer, _: BufferEncoding, done: () => void): void {
    this.waiting = { data, done };
    this.pump();
  }

  override _final(done: () => void): void {
    this.channels.send('E', this.id);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.closed_ && !(this.ended && this.writableFinished)) this.channels.send('C', this.id);
    this.channels.forget(this.id);
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.done();
    done(error);
  }

  private pump(): void {
    const { waiting } = this;
    if (!waiting) return;
    while (waiting.data.length > 0 && this.credit > 0) {
      const piece = waiting.data.subarray(0, Math.min(this.credit, PIECE));
      waiting.data = waiting.data.subarray(piece.length);
      this.credit -= piece.length;
      this.channels.send('D', this.id, piece);
    }
    if (waiting.data.length > 0) return;
    this.waiting = undefined;
    waiting.done();
  }
}
