/** Requests to what listens in a sandbox. */
import { request as ask, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Machine } from './machine.js';

/** Of one connection (RFC 9110, 7.6.1), and what opens doors here: none of the sandbox's business. */
const OWN = new Set(['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'x-api-key', 'x-access-token', 'e2b-sandbox-id', 'e2b-sandbox-port']);

const passed = (headers: IncomingHttpHeaders): IncomingHttpHeaders => Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.has(name)));

/** How long a server in a sandbox may take to begin its answer once it has the request, and be silent in it. */
const SILENCE_MS = 600_000;

class Silent extends Error {}

export async function passOn(machine: Pick<Machine, 'sandbox' | 'sandboxID'>, port: number, request: IncomingMessage, response: ServerResponse, silenceMs = SILENCE_MS): Promise<void> {
  let inside: Duplex | undefined;
  let silence: NodeJS.Timeout | undefined;
  try {
    inside = await machine.sandbox.connect(port);
    const stream = inside;
    const { method, url: path, headers } = request;
    const onward = ask({ method, path, headers: { ...passed(headers), connection: 'close' }, createConnection: () => stream });
    const answered = new Promise<IncomingMessage>((resolve, reject) => onward.once('response', resolve).once('error', reject));
    response.once('close', () => stream.destroy());
    // Bytes in either direction count as life. The connection is any stream, which has no timeout of its own.
    silence = setTimeout(() => onward.destroy(new Silent(`what listens at port ${port} has not answered within ${silenceMs / 1000} s`)), silenceMs);
    for (const each of [request, stream]) each.on('data', () => silence!.refresh());
    await Promise.all([
      pipeline(request, onward).catch(() => undefined),
      answered.then((answer) => {
        response.writeHead(answer.statusCode!, answer.statusMessage, passed(answer.headers));
        return pipeline(answer, response);
      }),
    ]);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else {
      const code = error instanceof Silent ? 504 : 502;
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify({ sandboxId: machine.sandboxID, port, message: (error as Error).message, code }));
    }
  } finally {
    clearTimeout(silence);
    inside?.destroy();
  }
}

/** The head as it came, without what opens doors here; then bytes both ways. */
export async function passOnUpgrade(machine: Machine, port: number, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
  socket.on('error', () => undefined);
  try {
    const inside = await machine.sandbox.connect(port);
    const lines: string[] = [];
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      const name = request.rawHeaders[at]!;
      if (/^(connection|upgrade)$/i.test(name) || !OWN.has(name.toLowerCase())) lines.push(`${name}: ${request.rawHeaders[at + 1]}`);
    }
    inside.write(Buffer.concat([Buffer.from(`${request.method} ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
    inside.on('error', () => socket.destroy()).once('close', () => socket.destroy());
    socket.once('close', () => inside.destroy());
    inside.pipe(socket).pipe(inside);
  } catch {
    socket.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n');
  }
}
