/**
 * The one proxy through which a sandbox with a list of allowed hosts reaches them: HTTP's CONNECT, and requests with a whole `http://` address
 * (RFC 9110, 9.3.6 and RFC 9112, 3.2.2). It looks names up itself, and connects to the very addresses that were judged.
 */
import { lookup } from 'node:dns/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, isIP, isIPv4, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { canonical, type AllowList, type Lookup, type Verdict } from './allowList.js';
import { MOST_CHANNELS } from './channels.js';
import { readHello, type Hello } from './clientHello.js';
import { forward } from './forward.js';

const HEADER_BYTES = 16 << 10;
/** How long a connection may say nothing that is a request. */
const REQUEST_TIMEOUT_MS = 60_000;
const LOOKUP_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 30_000;
/** How long neither side may say anything; a model may think that long. */
const IDLE_TIMEOUT_MS = 15 * 60_000;
/** Entries of the list that a refusal names. */
const MOST_NAMED = 20;

/** A request of a program in a sandbox. Its host is what the program wrote: hostile. */
export interface NetworkRequest {
  /** At most 255 characters. */
  readonly host: string;
  readonly port: number;
  /** Why it was refused, as the end of a sentence whose subject is the host; absent if it was allowed. */
  readonly refused?: string;
}

export interface ProxyOptions {
  readonly onRequest?: (request: NetworkRequest) => void;
  readonly lookup?: Lookup;
}

/** Where a program wants to go. */
interface Goal {
  readonly host: string;
  readonly port: number;
}

/** A connection of a program. */
interface Served {
  /** When it is given up unless it asks for something. */
  deadline?: NodeJS.Timeout;
  /** Connections to the outside that it asked for. */
  readonly onward: Set<Socket>;
}

/** What is told to the program in place of an answer. */
class Refusal extends Error {
  constructor(
    readonly status: string,
    message: string,
  ) {
    super(message);
  }
}

export class Proxy {
  private readonly server: Server;
  private readonly ending = new AbortController();
  private readonly connections = new Map<Duplex, Served>();
  /** Requests that are judged, and connections that are open, to the outside: one connection of a program may send many requests at once. */
  private underway = 0;
  private readonly lookup: Lookup;

  constructor(
    private readonly list: AllowList,
    private readonly options: ProxyOptions = {},
  ) {
    this.lookup = options.lookup ?? lookUp;
    // It never listens: connections are handed to it.
    this.server = createServer({ maxHeaderSize: HEADER_BYTES, keepAliveTimeout: 0 });
    this.server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => void this.tunnel(request, socket, head));
    this.server.on('request', (request, response) => void this.pass(request, response));
    this.server.on('clientError', (_, socket: Duplex) => answer(socket, '400 Bad Request', 'This is the proxy of the sandbox: what it was sent is no HTTP request.'));
  }

  /** Takes over a connection of a program in the sandbox. */
  serve(connection: Duplex): void {
    const served: Served = { onward: new Set() };
    this.connections.set(connection, served);
    connection.once('close', () => {
      clearTimeout(served.deadline);
      this.connections.delete(connection);
      for (const upstream of served.onward) upstream.destroy();
    });
    this.expectRequest(connection);
    this.server.emit('connection', connection);
  }

  /** Ends all connections. */
  close(): void {
    this.ending.abort(new Error('the sandbox has ended'));
    for (const connection of this.connections.keys()) connection.destroy();
  }

  private expectRequest(connection: Duplex): void {
    const served = this.connections.get(connection);
    if (!served) return;
    clearTimeout(served.deadline);
    served.deadline = setTimeout(() => connection.destroy(), REQUEST_TIMEOUT_MS).unref();
  }

  private async tunnel({ url }: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    clearTimeout(this.connections.get(socket)?.deadline);
    socket.on('error', () => undefined);
    let goal: Goal;
    let upstream: Socket;
    try {
      goal = goalOf(url ?? '');
      upstream = await this.reach(goal, socket);
    } catch (error) {
      return answer(socket, ...told(error));
    }
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    upstream.setTimeout(IDLE_TIMEOUT_MS, () => upstream.destroy());
    const closed = (): void => void (socket.readableEnded || socket.destroy());
    upstream.on('error', () => socket.destroy()).once('close', closed);
    upstream.pipe(socket);
    const { bytes, hello } = await opening(socket, head);
    if (hello && isIP(goal.host) === 0 && !isSame(hello.serverName, goal.host)) {
      this.tellRefused(goal, hello);
      upstream.off('close', closed).unpipe(socket).destroy();
      return finish(socket, UNRECOGNIZED_NAME);
    }
    upstream.write(bytes);
    socket.pipe(upstream);
  }

  /** TLS for another server than the one that was judged: behind the addresses of a content network there are many. */
  private tellRefused({ host, port }: Goal, { serverName }: Hello): void {
    const other = serverName === undefined ? 'no server name that can be read' : `the server name ${serverName.slice(0, 255).replaceAll(/[^A-Za-z0-9._-]/g, '?')}`;
    this.options.onRequest?.({ host: host.slice(0, 255), port, refused: `was asked by TLS for ${other}, which has to be the same` });
  }

  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    clearTimeout(this.connections.get(socket)?.deadline);
    response.once('close', () => this.expectRequest(socket));
    response.on('error', () => undefined);
    request.on('error', () => undefined);
    try {
      const url = absolute(request.url ?? '');
      const upstream = await this.reach({ host: bare(url.hostname), port: Number(url.port || 80) }, socket);
      upstream.setTimeout(IDLE_TIMEOUT_MS, () => upstream.destroy());
      await forward(request, response, url, upstream);
    } catch (error) {
      const [status, text] = told(error);
      if (response.headersSent) return void response.destroy();
      request.unpipe().resume();
      response.writeHead(Number(status.slice(0, 3)), status.slice(4), head(text)).end(text);
    }
  }

  /** A connection to where a program wants to go, which ends with the one that it was asked for on. Rejects with a `Refusal`. */
  private async reach(goal: Goal, on: Duplex): Promise<Socket> {
    if (this.underway >= MOST_CHANNELS) throw new Refusal('503 Service Unavailable', `More than ${MOST_CHANNELS} connections at once are not carried out of this sandbox.`);
    this.underway += 1;
    const over = (): void => void (this.underway -= 1);
    const upstream = await this.judged(goal).catch((error: unknown) => {
      over();
      throw error;
    });
    upstream.once('close', over);
    const served = this.connections.get(on);
    if (!served) {
      upstream.destroy();
      throw new Refusal('502 Bad Gateway', 'The connection was closed.');
    }
    served.onward.add(upstream);
    upstream.once('close', () => served.onward.delete(upstream));
    return upstream;
  }

  private async judged({ host, port }: Goal): Promise<Socket> {
    const signal = AbortSignal.any([this.ending.signal, AbortSignal.timeout(LOOKUP_TIMEOUT_MS)]);
    const verdict = await this.list.admit(host, port, this.lookup, signal).catch((error: Error): Verdict => {
      throw new Refusal('502 Bad Gateway', `The name ${host} cannot be looked up: ${codeOf(error)}.`);
    });
    const name = host.slice(0, 255);
    if ('refused' in verdict) {
      this.options.onRequest?.({ host: name, port, refused: verdict.refused });
      const { entries } = this.list;
      const allowed = `${entries.slice(0, MOST_NAMED).join(', ')}${entries.length > MOST_NAMED ? ` and ${entries.length - MOST_NAMED} more` : ''}`;
      throw new Refusal(FORBIDDEN, `The network of this sandbox does not lead to ${isIP(name) === 6 ? `[${name}]` : name}:${port}: it ${verdict.refused}. Allowed: ${allowed}.`);
    }
    this.options.onRequest?.({ host: name, port });
    return connected(name, port, verdict.addresses, this.ending.signal);
  }
}

/** The fatal alert `unrecognized_name` (RFC 6066, 3) as a record of TLS: the one thing that a program shows once it speaks TLS. */
const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

const isSame = (name: string | undefined, host: string): boolean => name !== undefined && canonical(name) === canonical(host);

/** What a program says first, as far as it tells which server it asks for by TLS, if it speaks TLS. */
async function opening(socket: Duplex, head: Buffer): Promise<{ readonly bytes: Buffer; readonly hello: Hello | undefined }> {
  let bytes = head;
  for (;;) {
    const hello = readHello(bytes);
    if (hello !== 'incomplete') return { bytes, hello };
    const more = (socket.read() as Buffer | null) ?? undefined;
    if (more) bytes = Buffer.concat([bytes, more]);
    // Not whole is not heard by any server.
    else if (socket.readableEnded || socket.destroyed) return { bytes, hello: undefined };
    else await new Promise<void>((resolve) => {
      const done = (): void => {
        for (const event of ['readable', 'end', 'close']) socket.off(event, done);
        resolve();
      };
      for (const event of ['readable', 'end', 'close']) socket.on(event, done);
    });
  }
}

/** Programs that do not show what comes with a refusal of CONNECT show this line. */
const FORBIDDEN = '403 Not in the list of hosts that this sandbox may reach';

const lookUp: Lookup = async (name, signal) => {
  const found = lookup(name, { all: true, order: 'verbatim' });
  const late = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  return (await Promise.race([found, late])).map(({ address }) => address);
};

/** A connection to one of the addresses, whichever answers first. */
async function connected(host: string, port: number, addresses: readonly string[], signal: AbortSignal): Promise<Socket> {
  const candidates = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
  if (candidates.length === 0) throw new Refusal('502 Bad Gateway', `The name ${host} has no address.`);
  const timeout = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  const socket = connect({ port, host, autoSelectFamily: true, allowHalfOpen: true, lookup: (_name, _options, done) => done(null, candidates) });
  const stop = AbortSignal.any([signal, timeout]);
  const cancel = (): void => void socket.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }));
  stop.addEventListener('abort', cancel, { once: true });
  try {
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject).once('close', () => reject(new Error('closed'))));
    return socket;
  } catch (error) {
    socket.destroy();
    throw new Refusal('502 Bad Gateway', `The host ${host}:${port} cannot be reached: ${codeOf(error as Error)}.`);
  } finally {
    stop.removeEventListener('abort', cancel);
  }
}

const codeOf = (error: Error): string => (error as NodeJS.ErrnoException).code ?? (error.name === 'TimeoutError' ? 'no answer' : 'failed');

/** What CONNECT asks for: a host and a port. */
function goalOf(authority: string): Goal {
  const [, v6, host, port] = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9._-]{1,255})):(\d{1,5})$/.exec(authority) ?? [];
  const number = Number(port);
  if ((v6 ?? host) === undefined || !(number > 0 && number < 65_536)) throw new Refusal('400 Bad Request', 'CONNECT needs a host and a port, such as `example.com:443`.');
  return { host: (v6 ?? host)!, port: number };
}

/** The address of a request that is to be passed on. */
function absolute(text: string): URL {
  const url = /^http:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url) return url;
  throw new Refusal('400 Bad Request', 'This is the proxy of the sandbox: it takes CONNECT, and requests with a whole address that begins with http://.');
}

const bare = (host: string): string => host.replace(/^\[|\]$/g, '');

const told = (error: unknown): [status: string, text: string] => {
  const { status, message } = error instanceof Refusal ? error : new Refusal('502 Bad Gateway', `The proxy of the sandbox has failed: ${codeOf(error as Error)}.`);
  return [status, `${message}\n`];
};

const head = (text: string): Record<string, string | number> => ({ 'content-type': 'text/plain; charset=utf-8', 'content-length': Buffer.byteLength(text), connection: 'close' });

function answer(socket: Duplex, status: string, text: string): void {
  const lines = Object.entries(head(text)).map(([name, value]) => `${name}: ${value}\r\n`);
  finish(socket, `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${text}`);
}

function finish(socket: Duplex, last: string | Buffer): void {
  if (socket.destroyed || !socket.writable) return;
  socket.end(last);
  // What it still sends is read and forgotten, so that it comes to read the answer; its end, or the deadline, closes it.
  socket.resume();
  setTimeout(() => socket.destroy(), 5_000).unref();
}
