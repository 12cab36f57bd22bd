/** One command in a sandbox, whose output is asked for until there is no more. */
import { setImmediate as soon } from 'node:timers/promises';
import type { TerminalSize } from '../provider.js';
import type { End, Listener, RemoteProcess } from '../remote/service.js';
import type { BeamEndpoint } from './endpoint.js';
import { INPUT, NEXT, RESIZE, piecePath } from './spoolShell.js';

/** Bytes of input that go along with the request that tells of them; more are uploaded. */
const INLINE = 48 << 10;
/** Bytes of one piece of input, and bytes that wait for their turn before the source has to. */
const PIECE = 4 << 20;
const WAITING = 4 << 20;

interface Report {
  readonly out: number;
  readonly err: number;
  readonly done: boolean;
  readonly more: boolean;
  readonly code?: number;
  /** Of pieces of standard output before `stdout`, which are to be downloaded. */
  readonly fetched: readonly { readonly size: number; readonly digest: string }[];
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export class SpooledProcess implements RemoteProcess {
  readonly closed: Promise<End | undefined>;
  broken: Error | undefined;
  private onClosed!: (end: End | undefined) => void;
  private readonly stop = new AbortController();
  private out = 0;
  private err = 0;
  private paused = false;
  private onResumed: () => void = () => undefined;
  private isLeft = false;
  private readonly queue: Buffer[] = [];
  private queued = 0;
  private sent = 0;
  private ending = false;
  private flushing: Promise<void> | undefined;

  constructor(
    private readonly endpoint: BeamEndpoint,
    private readonly nonce: string,
    private readonly listener: Listener,
  ) {
    this.closed = new Promise((resolve) => (this.onClosed = resolve));
  }

  /** Resolves when it has been started, with what it has said so far on its way. */
  async begin(words: readonly string[], env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    const report = await this.endpoint.answer(words, env, AbortSignal.any([signal, this.stop.signal]), readReport);
    // Whoever has started it listens first.
    void soon().then(() => this.follow(report));
  }

  resume(): void {
    this.paused = false;
    this.onResumed();
  }

  async input(bytes: Buffer, signal: AbortSignal): Promise<void> {
    this.queue.push(bytes);
    this.queued += bytes.length;
    const flushing = this.flush(signal);
    if (this.queued > WAITING) await flushing;
    else flushing.catch(() => undefined);
  }

  async closeInput(signal: AbortSignal): Promise<void> {
    this.ending = true;
    await this.flush(signal);
    if (this.ending) await this.flush(signal);
  }

  resize({ columns, rows }: TerminalSize, signal: AbortSignal): Promise<unknown> {
    return this.endpoint.say(RESIZE, [this.nonce, String(columns), String(rows)], signal);
  }

  leave(): void {
    if (this.isLeft) return;
    this.isLeft = true;
    this.endpoint.forget(this.nonce);
    this.stop.abort();
    this.resume();
  }

  disconnect(): void {
    this.broken ??= new Error('the connection was ended');
    this.stop.abort(this.broken);
    this.resume();
  }

  private async follow(first: Report): Promise<void> {
    const { signal } = this.stop;
    try {
      for (let report = first; ; report = await this.endpoint.answer(['sh', '-c', NEXT, 'sh', this.nonce, String(this.out), String(this.err)], {}, signal, readReport)) {
        const pieces = await Promise.all(report.fetched.map(({ size, digest }, index) => this.endpoint.fetch(piecePath(this.nonce, this.out + index), size, digest, signal)));
        for (const piece of pieces) if (!this.listener.data('stdout', piece)) this.paused = true;
        this.out = report.out;
        this.err = report.err;
        for (const stream of ['stdout', 'stderr'] as const) if (report[stream].length > 0 && !this.listener.data(stream, report[stream])) this.paused = true;
        if (this.isLeft) return this.onClosed(undefined);
        if (report.done && !report.more) return this.onClosed(report.code === undefined ? { exitCode: -1, exited: false, status: 'signal: killed' } : { exitCode: report.code, exited: true });
        if (this.paused) await new Promise<void>((resolve) => (this.onResumed = resolve));
        signal.throwIfAborted();
      }
    } catch (error) {
      this.broken ??= error as Error;
      this.onClosed(undefined);
    }
  }

  /** What waits goes out in order; what is added until then goes along. */
  private flush(signal: AbortSignal): Promise<void> {
    return (this.flushing ??= (async () => {
      await soon();
      while (this.queued > 0 || this.ending) {
        const all = this.queue.length === 1 ? this.queue[0]! : Buffer.concat(this.queue);
        const bytes = all.subarray(0, PIECE);
        const rest = all.subarray(PIECE);
        this.queue.splice(0, this.queue.length, ...(rest.length > 0 ? [rest] : []));
        this.queued = rest.length;
        const end = this.ending && rest.length === 0;
        if (end) this.ending = false;
        await this.send(bytes, end, signal);
      }
    })().finally(() => (this.flushing = undefined)));
  }

  private async send(bytes: Buffer, end: boolean, outer: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([outer, this.stop.signal]);
    const number = bytes.length > 0 ? this.sent++ : undefined;
    const inline = bytes.length > 0 && bytes.length <= INLINE;
    if (number !== undefined && !inline) await this.endpoint.arrive(`${this.nonce}.${number}`, bytes, signal);
    const words = ['sh', '-c', INPUT, 'sh', this.nonce, String(number ?? ''), inline ? bytes.toString('base64') : '', end ? '1' : ''];
    for (;;) {
      const taken = await this.endpoint.answer(words, {}, signal, (said) => (/^\d+\n$/.test(said) ? Number(said) : undefined));
      if (number === undefined || taken > number - PIECES_AHEAD) return;
    }
  }
}

/** Pieces of input that may wait inside. */
const PIECES_AHEAD = 4;

/** What a poll says, if it is whole. */
export function readReport(said: string): Report | undefined {
  const [head = '', stdout = '', stderr = '', last] = said.split('\n');
  const [, out, err, state, code, more, fetched = ''] = /^(\d+) (\d+) ([wd]) (\d+|-) ([m-])((?: \d+:[0-9a-f]{64}){0,8})$/.exec(head) ?? [];
  if (last !== 'Z' || out === undefined) return undefined;
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64');
  return { out: Number(out), err: Number(err), done: state === 'd', more: more === 'm', fetched: [...fetched.matchAll(/(\d+):(\w+)/g)].map(([, size, digest]) => ({ size: Number(size), digest: digest! })), ...(code === '-' ? {} : { code: Number(code) }), stdout: bytes(stdout), stderr: bytes(stderr) };
}
