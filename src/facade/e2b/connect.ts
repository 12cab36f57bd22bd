/**
 * The server's side of the Connect protocol with JSON messages (connectrpc.com/docs/protocol): unary calls are plain JSON; a stream is a
 * sequence of envelopes, each a byte of flags, a length in 32 bits, big-endian, and so many bytes; the last one has flag 2 and holds the error, if any.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TooLarge, bodyOf } from './body.js';

const END_OF_STREAM = 2;
const HTTP_STATUS = { canceled: 499, invalid_argument: 400, deadline_exceeded: 504, not_found: 404, already_exists: 409, resource_exhausted: 429, unauthenticated: 401, unimplemented: 501, internal: 500, unavailable: 503 } as const;
/** Of one message; input that is typed comes in pieces of at most 64 KiB. */
const MOST_MESSAGE = 16 << 20;

export class RpcError extends Error {
  constructor(
    readonly code: keyof typeof HTTP_STATUS,
    message: string,
  ) {
    super(message);
  }
}

/** The one message of a request, unary or the first of a stream. Rejects with `RpcError`. */
export async function message(request: IncomingMessage): Promise<object> {
  const body = await bodyOf(request, MOST_MESSAGE);
  if (!/json(;|$)/.test(request.headers['content-type'] ?? 'json')) throw new RpcError('unimplemented', 'only messages in JSON are understood here');
  try {
    const text = (isStream(request) ? body.subarray(5, 5 + body.readUInt32BE(1)) : body).toString();
    const value: unknown = text === '' ? {} : JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Said below.
  }
  throw new RpcError('invalid_argument', 'the message is not a JSON object');
}

export function answer(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Of a stream the status is always 200, and the error is in its last envelope. */
export function refuse(response: ServerResponse, error: unknown): void {
  const { code, message: text } = error instanceof RpcError ? error : new RpcError(error instanceof TooLarge ? 'resource_exhausted' : 'internal', (error as Error).message);
  if (response.headersSent) response.destroy();
  else if (isStream(response.req)) response.writeHead(200, { 'content-type': 'application/connect+json' }).end(envelope(END_OF_STREAM, { error: { code, message: text } }));
  else response.writeHead(HTTP_STATUS[code], { 'content-type': 'application/json' }).end(JSON.stringify({ code, message: text }));
}

const isStream = (request: IncomingMessage): boolean => request.headers['content-type']?.startsWith('application/connect+') === true;

function envelope(flags: number, value: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(value));
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** One stream of answers to one client, which may go away. */
export class Answers {
  /** `ping` is said as often as the client asks for, so that it, and whatever is between, know that somebody is there. */
  constructor(
    private readonly response: ServerResponse,
    ping: unknown,
  ) {
    response.writeHead(200, { 'content-type': 'application/connect+json' });
    response.on('error', () => undefined);
    const everyS = Number(response.req.headers['keepalive-ping-interval']);
    if (!(everyS >= 1)) return;
    const timer = setInterval(() => void this.send(ping), Math.min(everyS, 600) * 1000);
    response.once('close', () => clearInterval(timer));
  }

  get open(): boolean {
    return !this.response.destroyed && !this.response.writableEnded;
  }

  /** Calls back once, when the client has gone or all has been said. */
  onClose(done: () => void): void {
    if (this.response.closed) done();
    else this.response.once('close', done);
  }

  /** Resolves when the client has room for more, or has gone. */
  async send(value: unknown): Promise<void> {
    if (!this.open || this.response.write(envelope(0, value))) return;
    const done = new AbortController();
    await Promise.race(['drain', 'close'].map((event) => once(this.response, event, { signal: done.signal }).catch(() => undefined)));
    done.abort();
  }

  end(error?: RpcError): void {
    if (this.open) this.response.end(envelope(END_OF_STREAM, error ? { error: { code: error.code, message: error.message } } : {}));
  }

  /** Breaks off without a word. */
  cut(): void {
    this.response.destroy();
  }
}
