/**
 * The server's side of the Connect protocol with JSON messages (connectrpc.com/docs/protocol): unary calls are plain JSON; a stream is a
 * sequence of envelopes, each a byte of flags, a length in 32 bits, big-endian, and so many bytes; the last one has flag 2 and holds the error, if any.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

const END_OF_STREAM = 2;
const HTTP_STATUS = { canceled: 499, invalid_argument: 400, deadline_exceeded: 504, not_found: 404, already_exists: 409, unauthenticated: 401, unimplemented: 501, internal: 500, unavailable: 503 } as const;

export class RpcError extends Error {
  constructor(
    readonly code: keyof typeof HTTP_STATUS,
    message: string,
  ) {
    super(message);
  }
}

/** The one message of a request, unary or the first of a stream. */
export async function message(request: IncomingMessage): Promise<unknown> {
  const body = await buffer(request);
  const enveloped = request.headers['content-type']?.startsWith('application/connect+') === true;
  const text = (enveloped ? body.subarray(5, 5 + body.readUInt32BE(1)) : body).toString();
  return text === '' ? {} : JSON.parse(text);
}

export function answer(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export function refuse(response: ServerResponse, error: unknown): void {
  const { code, message: text } = error instanceof RpcError ? error : new RpcError('internal', (error as Error).message);
  if (!response.headersSent) response.writeHead(HTTP_STATUS[code], { 'content-type': 'application/json' });
  response.end(JSON.stringify({ code, message: text }));
}

function envelope(flags: number, value: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(value));
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** One stream of answers to one client, which may go away. */
export class Answers {
  constructor(private readonly response: ServerResponse) {
    response.writeHead(200, { 'content-type': 'application/connect+json' });
    response.on('error', () => undefined);
  }

  get open(): boolean {
    return !this.response.destroyed && !this.response.writableEnded;
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

  /** Cuts the connection without a word, or ends it as if all had been said. */
  cut(how: 'reset' | 'silent'): void {
    if (how === 'silent') this.response.end();
    else this.response.destroy();
  }
}
