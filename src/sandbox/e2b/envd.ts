/**
 * The daemon in a sandbox: its process service (github.com/e2b-dev/E2B, spec/envd/process/process.proto), over Connect with JSON, and uploads.
 *
 * Not by the vendor's SDK, for what `test/e2b/gaps.test.ts` shows of it: it decodes output as UTF-8 and so loses bytes, it keeps all output of a
 * command in memory, and all of a stream that it uploads.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { TerminalSize } from '../provider.js';
import { Refused } from '../remote/failures.js';
import type { End, Endpoint, Listener, RemoteProcess, Start } from '../remote/service.js';
import { ask, send } from '../remote/wire.js';
import { translate } from './failures.js';

/** How one sandbox is reached. */
export interface Reach {
  readonly sandboxId: string;
  readonly url: string;
  readonly token?: string;
}

const DAEMON_PORT = 49983;
const USER = 'root';
const PING_S = 50;
const SILENCE_MS = 2.5 * PING_S * 1000;
const ANSWER_MS = 60_000;
const ATTEMPTS = 4;
/** Longest message that is taken for one. */
const MOST_MESSAGE = 64 << 20;
/** How long a command's connection may stay open after its end; a daemon that holds the output keeps it so. */
const LEAVE_MS = 1000;
const END_OF_STREAM = 2;

interface Event {
  readonly start?: { readonly pid: number };
  readonly data?: { readonly stdout?: string; readonly stderr?: string; readonly pty?: string };
  readonly end?: End;
}

class EnvdProcess implements RemoteProcess {
  private pid = 0;
  readonly closed: Promise<End | undefined>;
  broken: Error | undefined;
  private held: Buffer[] = [];
  private length = 0;
  private end: End | undefined;
  private onStarted!: (error?: Error) => void;

  constructor(
    private readonly envd: Envd,
    private readonly response: IncomingMessage,
    private readonly listener: Listener,
    private readonly terminal: boolean,
  ) {
    this.closed = new Promise((resolve) => {
      const over = (): void => {
        this.onStarted(this.broken ?? new Error('the connection ended before the command began'));
        resolve(this.end);
      };
      response.on('data', (chunk: Buffer) => this.take(chunk));
      response.once('error', (error) => (this.broken ??= error));
      response.once('close', over);
    });
  }

  /** Settles when the process is there. */
  started(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.onStarted = (error) => (this.pid > 0 ? resolve() : reject(error!));
      if (this.pid > 0) resolve();
    });
  }

  resume(): void {
    this.response.resume();
  }

  input(bytes: Buffer, signal: AbortSignal): Promise<unknown> {
    return this.envd.call('SendInput', { process: { pid: this.pid }, input: { [this.terminal ? 'pty' : 'stdin']: bytes.toString('base64') } }, signal);
  }

  closeInput(signal: AbortSignal): Promise<unknown> {
    return this.envd.call('CloseStdin', { process: { pid: this.pid } }, signal);
  }

  resize({ columns, rows }: TerminalSize, signal: AbortSignal): Promise<unknown> {
    return this.envd.call('Update', { process: { pid: this.pid }, pty: { size: { cols: columns, rows } } }, signal);
  }

  disconnect(): void {
    this.response.destroy();
  }

  /** A connection that ends in good order can be used again. */
  leave(): void {
    this.response.resume();
    const timer = setTimeout(() => this.response.destroy(), LEAVE_MS);
    void this.closed.then(() => clearTimeout(timer));
  }

  private take(chunk: Buffer): void {
    this.held.push(chunk);
    this.length += chunk.length;
    for (let message = this.next(); message; message = this.next()) {
      try {
        this.read(message.flags, JSON.parse(message.body.toString()) as { event?: Event; error?: { message?: string } });
      } catch (error) {
        this.broken ??= error as Error;
        this.response.destroy();
        return;
      }
    }
  }

  /** An envelope is a byte of flags, a length of 32 bits, and so many bytes. */
  private next(): { flags: number; body: Buffer } | undefined {
    if (this.length < 5) return undefined;
    if (this.held[0]!.length < 5) this.held = [Buffer.concat(this.held)];
    const size = this.held[0]!.readUInt32BE(1);
    if (size > MOST_MESSAGE) {
      this.broken ??= new Error('a message is too long');
      this.response.destroy();
      return undefined;
    }
    if (this.length < 5 + size) return undefined;
    const all = this.held.length === 1 ? this.held[0]! : Buffer.concat(this.held);
    this.held = all.length > 5 + size ? [all.subarray(5 + size)] : [];
    this.length -= 5 + size;
    return { flags: all[0]!, body: all.subarray(5, 5 + size) };
  }

  private read(flags: number, { event, error }: { event?: Event; error?: { message?: string } }): void {
    if (flags & END_OF_STREAM) {
      if (error) this.broken ??= new Error(error.message ?? 'the service has given no reason');
    } else if (event?.start) {
      this.pid = event.start.pid;
      this.onStarted?.();
    } else if (event?.data) {
      const { stdout, stderr, pty } = event.data;
      const text = stderr ?? stdout ?? pty;
      if (text !== undefined && !this.listener.data(stderr === undefined ? 'stdout' : 'stderr', Buffer.from(text, 'base64'))) this.response.pause();
    } else if (event?.end) this.end = event.end;
  }
}

export class Envd implements Endpoint {
  readonly translate = translate;

  /** Another one after each pause. */
  constructor(public reach: Reach) {}

  async start({ argv, env, stdin, size }: Start, listener: Listener, signal: AbortSignal): Promise<RemoteProcess> {
    const [cmd, ...args] = argv;
    const request = Buffer.from(JSON.stringify({ process: { cmd, args, envs: env }, stdin, ...(size && { pty: { size: { cols: size.columns, rows: size.rows } } }) }));
    const head = Buffer.alloc(5);
    head.writeUInt32BE(request.length, 1);
    // What follows the answer's head outlives the wait for it.
    const connection = new AbortController();
    const give = (): void => connection.abort(signal.reason);
    signal.addEventListener('abort', give, { once: true });
    try {
      const response = await this.patiently(signal, () =>
        send({
          url: this.at('process.Process/Start'),
          headers: { ...this.headers, 'content-type': 'application/connect+json', 'connect-protocol-version': '1', 'keepalive-ping-interval': String(PING_S) },
          body: Buffer.concat([head, request]),
          signal: connection.signal,
          silenceMs: SILENCE_MS,
        }),
      );
      const process = new EnvdProcess(this, response, listener, size !== undefined);
      await process.started();
      return process;
    } finally {
      signal.removeEventListener('abort', give);
    }
  }

  async upload(path: string, data: Readable, signal: AbortSignal): Promise<readonly string[]> {
    const query = new URLSearchParams({ path, username: USER });
    await ask({ url: this.at(`files?${query}`), body: data, headers: { ...this.headers, 'content-type': 'application/octet-stream' }, signal, silenceMs: SILENCE_MS });
    return [];
  }

  async answers(signal: AbortSignal): Promise<boolean | undefined> {
    try {
      (await send({ url: this.at('health'), method: 'GET', headers: this.headers, signal, silenceMs: ANSWER_MS })).resume();
      return true;
    } catch (error) {
      return error instanceof Refused && (error.status === 502 || error.status === 404) ? false : undefined;
    }
  }

  call(method: string, json: unknown, signal: AbortSignal): Promise<unknown> {
    return this.patiently(signal, () => ask({ url: this.at(`process.Process/${method}`), json, headers: { ...this.headers, 'connect-protocol-version': '1' }, signal, silenceMs: ANSWER_MS }));
  }

  /** What is refused for its rate has not been done, so that it can be asked for again. */
  private async patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Refused) || error.status !== 429 || attempt === ATTEMPTS) throw error;
        await pause(error.retryAfterMs ?? 500 * 2 ** attempt, undefined, { signal });
      }
    }
  }

  private at(path: string): string {
    return `${this.reach.url}/${path}`;
  }

  private get headers(): Record<string, string> {
    const { sandboxId, token } = this.reach;
    return { 'E2b-Sandbox-Id': sandboxId, 'E2b-Sandbox-Port': String(DAEMON_PORT), authorization: `Basic ${Buffer.from(`${USER}:`).toString('base64')}`, ...(token === undefined ? {} : { 'X-Access-Token': token }) };
  }
}
