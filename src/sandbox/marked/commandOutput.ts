/** Output of one command, up to the markers that end it. */
import { Readable } from 'node:stream';
import { MarkerScanner } from './marker.js';

/** Bytes that each stream holds for its reader before the command is made to wait. */
const BUFFER_BYTES = 128 << 10;

/** Who takes what comes of both streams. */
export interface OutputConsumer {
  /** Takes a piece of output. False asks for a pause, until `resume` of the reader is called. */
  data(stream: 'stdout' | 'stderr', piece: Buffer): boolean;
}

export interface Report {
  readonly code: number;
  /** Processes that the memory limit has killed since the sandbox began; undefined if it was not asked or is not known. */
  readonly memoryKills?: number;
}

export class CommandOutput implements OutputConsumer {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when both streams have come to their markers. */
  readonly report: Promise<Report>;
  /** Called when a reader wants more, after `data` has asked for a pause. */
  onWanted: () => void = () => undefined;
  private readonly scanners: Record<'stdout' | 'stderr', MarkerScanner>;
  private waiting = new Set<'stdout' | 'stderr'>();
  private released = false;
  private ended = false;
  private reported!: (report: Report) => void;

  constructor(readonly nonce: string) {
    this.scanners = { stdout: new MarkerScanner(nonce), stderr: new MarkerScanner(nonce) };
    const stream = (name: 'stdout' | 'stderr'): Readable => new Readable({ highWaterMark: BUFFER_BYTES, read: () => this.wanted(name), destroy: (error, done) => (this.wanted(name), done(error)) });
    this.stdout = stream('stdout');
    this.stderr = stream('stderr');
    this.report = new Promise((resolve) => (this.reported = resolve));
  }

  data(name: 'stdout' | 'stderr', piece: Buffer): boolean {
    if (this.ended) return true;
    const scanner = this.scanners[name];
    this.push(name, scanner.push(piece));
    const { stdout, stderr } = this.scanners;
    if (stdout.found !== undefined && stderr.found !== undefined) {
      const [code, kills] = stdout.found.split(' ');
      this.reported({ code: Number(code), memoryKills: kills ? Number(kills) : undefined });
      this.end();
    }
    return this.released || this.waiting.size === 0;
  }

  /** Takes the rest without waiting for the readers: after a kill it is no more than what was under way. */
  release(): void {
    this.released = true;
    this.onWanted();
  }

  /** Ends both streams; what still comes is dropped. */
  end(): void {
    if (this.ended) return;
    for (const name of ['stdout', 'stderr'] as const) {
      this.push(name, this.scanners[name].rest());
      this[name].push(null);
    }
    this.ended = true;
    this.release();
  }

  private push(name: 'stdout' | 'stderr', bytes: Buffer): void {
    // A reader that has gone away must not stop the command.
    if (bytes.length === 0 || this[name].destroyed) return;
    if (!this[name].push(bytes)) this.waiting.add(name);
  }

  private wanted(name: 'stdout' | 'stderr'): void {
    if (this.waiting.delete(name) && this.waiting.size === 0) this.onWanted();
  }
}
