/** Streams that the engine pushes, each to whoever opened it; what comes before that is known is kept for it. Knows nothing of VS Code. */
import { Disposing, type Disposable } from '../dispose.js';
import type { Runner } from '../runner.js';

export type Channel = 'stdout' | 'stderr';
export type Receive = (data: Uint8Array, channel: Channel) => void;

/** Streams that nobody has claimed, such as those of a request that was given up: the oldest are dropped. */
const MOST_UNCLAIMED = 8;
/** Bytes in a second that are taken from one stream: about what a terminal of VS Code can draw. Beyond that the program waits. */
const BYTES_PER_SECOND = 4_000_000;
const TICK_MS = 25;

type Piece = readonly [Uint8Array, Channel];

export class Streams extends Disposing {
  private readonly claimed = new Map<string, Claim>();
  private readonly early = new Map<string, Piece[]>();

  constructor(private readonly runner: Pick<Runner, 'request' | 'on'>) {
    super();
    this.own(
      runner.on('stream/data', ({ stream, channel, data }) => {
        const piece = new Uint8Array(Buffer.from(data, 'base64'));
        const claim = this.claimed.get(stream);
        if (claim) claim.receive(piece, channel);
        else this.keep(stream, [piece, channel]);
      }),
    );
  }

  /** What arrives is acknowledged at the pace at which it can be shown. */
  claim(root: string, stream: string, receive: Receive): Disposable {
    const claim = new Claim(receive, (bytes) => {
      // A stream that has ended, or whose engine has, needs no acknowledgement.
      this.runner.request('stream/ack', { root, stream, bytes }).catch(() => undefined);
    });
    this.claimed.set(stream, claim);
    const early = this.early.get(stream) ?? [];
    this.early.delete(stream);
    for (const [data, channel] of early) claim.receive(data, channel);
    return {
      dispose: () => {
        claim.dispose();
        if (this.claimed.get(stream) === claim) this.claimed.delete(stream);
      },
    };
  }

  private keep(stream: string, piece: Piece): void {
    const pieces = this.early.get(stream) ?? [];
    pieces.push(piece);
    this.early.set(stream, pieces);
    if (this.early.size > MOST_UNCLAIMED) this.early.delete(this.early.keys().next().value!);
  }
}

class Claim {
  private owed = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly deliver: Receive,
    private readonly acknowledge: (bytes: number) => void,
  ) {}

  receive(data: Uint8Array, channel: Channel): void {
    this.deliver(data, channel);
    this.owed += data.length;
    this.timer ??= setInterval(() => this.tick(), TICK_MS);
  }

  dispose(): void {
    clearInterval(this.timer);
  }

  private tick(): void {
    const bytes = Math.min(this.owed, (BYTES_PER_SECOND * TICK_MS) / 1000);
    this.owed -= bytes;
    if (bytes > 0) this.acknowledge(bytes);
    if (this.owed > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
