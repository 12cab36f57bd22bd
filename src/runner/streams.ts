/** What is pushed to a client: pieces of streams, as many at once as it has room for. */
import type { Readable } from 'node:stream';
import type { Session } from './session.js';
import { STREAM_WINDOW } from './sandboxApi.js';

/** Most bytes of one piece. */
const PIECE = 128 << 10;

export class Outflow {
  private underWay = 0;
  private onRoom: (() => void)[] = [];

  constructor(
    private readonly name: string,
    private readonly session: Session,
  ) {}

  /** Sends all of a stream. Rejects with its error, or when the connection has ended. */
  async send(stream: Readable, channel: 'stdout' | 'stderr'): Promise<void> {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; at += PIECE) {
        await this.room();
        const piece = chunk.subarray(at, at + PIECE);
        this.underWay += piece.length;
        this.session.send('stream/data', { stream: this.name, channel, data: piece.toString('base64') });
      }
    }
  }

  acknowledge(bytes: number): void {
    this.underWay = Math.max(0, this.underWay - bytes);
    if (this.underWay < STREAM_WINDOW) for (const go of this.onRoom.splice(0)) go();
  }

  private async room(): Promise<void> {
    const { closed } = this.session;
    while (this.underWay >= STREAM_WINDOW) {
      closed.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.onRoom.push(resolve);
        closed.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    closed.throwIfAborted();
  }
}

/** What one connection has open, by name. */
export class Outflows {
  private readonly sessions = new WeakMap<Session, Map<string, Outflow>>();

  /** Rejects with one sentence if the name is in use. */
  open(session: Session, name: string): Outflow {
    const open = this.sessions.get(session) ?? new Map<string, Outflow>();
    this.sessions.set(session, open);
    if (open.has(name)) throw new Error(`a stream ${name.slice(0, 80)} is open already`);
    const outflow = new Outflow(name, session);
    open.set(name, outflow);
    return outflow;
  }

  acknowledge(session: Session, name: string, bytes: number): void {
    if (Number.isSafeInteger(bytes) && bytes > 0) this.sessions.get(session)?.get(name)?.acknowledge(bytes);
  }

  close(session: Session, name: string): void {
    this.sessions.get(session)?.delete(name);
  }
}
