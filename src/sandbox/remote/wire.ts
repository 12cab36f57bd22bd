/** Requests to the service: bytes as they come, with deadlines, and refusals as `Refused`. */
import { Agent as HttpAgent, request as http, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as https } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { buffer } from 'node:stream/consumers';
import { Refused } from './failures.js';

export interface Call {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream is sent as it comes, and destroyed if the request fails. */
  readonly body?: Buffer | Readable;
  readonly signal: AbortSignal;
  /** Milliseconds in which nothing comes after which the connection is taken for dead. */
  readonly silenceMs: number;
}

/** Keep connections, and let go of those that the other side may be about to close. */
const KEEP = { keepAlive: true, timeout: 60_000 } as const;
const agents = { http: new HttpAgent(KEEP), https: new HttpsAgent(KEEP) };
/** Most bytes that an answer other than a stream may have. */
const MOST_ANSWER = 16 << 20;
const MOST_REASON = 4096;

/** Resolves with the answer's head, its body unread. Rejects with `Refused` for every status but success. */
export async function send({ url, method = 'POST', headers, body, signal, silenceMs }: Call): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const secure = url.startsWith('https:');
  const length = body instanceof Readable ? {} : { 'content-length': String(body?.length ?? 0) };
  const options = { method, headers: { ...length, ...headers }, agent: secure ? agents.https : agents.http, signal };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = (secure ? https : http)(url, options, resolve);
    request.setTimeout(silenceMs, () => request.destroy(new Error(`nothing was heard for ${silenceMs / 1000} s`)));
    request.once('error', reject);
    if (body instanceof Readable) pipeline(body, request).catch(reject);
    else request.end(body);
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
  const { statusCode = 0 } = response;
  if (statusCode >= 200 && statusCode < 300) return response;
  const said = await whole(response, MOST_REASON).catch(() => Buffer.alloc(0));
  throw new Refused(statusCode, reasonIn(said.toString()) || `HTTP status ${statusCode}`, retryAfter(response.headers['retry-after']));
}

/** The whole answer as JSON. */
export async function ask<T>(call: Call & { readonly json?: unknown }): Promise<T> {
  const body = call.json === undefined ? call.body : Buffer.from(JSON.stringify(call.json));
  const text = (await askBytes({ ...call, body, headers: { 'content-type': 'application/json', ...call.headers } })).toString();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

export async function askBytes(call: Call): Promise<Buffer> {
  return whole(await send(call), MOST_ANSWER);
}

async function whole(response: IncomingMessage, most: number): Promise<Buffer> {
  if (Number(response.headers['content-length'] ?? 0) > most) {
    response.destroy();
    return Buffer.alloc(0);
  }
  return buffer(response);
}

function reasonIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message.slice(0, 500) : '';
  } catch {
    return '';
  }
}

/** Milliseconds, of a header that is a number of seconds or a date (RFC 9110, 10.2.3). */
export function retryAfter(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), 600_000) : undefined;
}
