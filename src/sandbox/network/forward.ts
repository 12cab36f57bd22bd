/** Passes one HTTP request on, over a connection of its own. */
import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** Headers that are about one connection only (RFC 9110, 7.6.1). */
const OF_ONE_CONNECTION = new Set(['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade']);

/** Resolves when the answer has been passed back. Rejects if there is none, or with what cut it off. */
export async function forward(request: IncomingMessage, response: ServerResponse, url: URL, upstream: Socket): Promise<void> {
  // The address says whose request it is, so that it is judged by where it really goes.
  const headers = [...passedOn(request.rawHeaders, ['host']), 'Host', url.host, 'Connection', 'close'];
  if (request.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
  const asked = ask({ method: request.method, path: `${url.pathname}${url.search}`, headers, createConnection: () => upstream });
  response.once('close', () => upstream.destroy());
  const answered = new Promise<IncomingMessage>((resolve, reject) => asked.once('response', resolve).once('error', reject).once('close', () => reject(new Error('no answer'))));
  answered.catch(() => undefined);
  // One that answers before it has read all is no failure.
  pipeline(request, asked).catch(() => undefined);
  const answer = await answered;
  answer.on('error', () => undefined);
  response.writeHead(answer.statusCode!, answer.statusMessage, passedOn(answer.rawHeaders));
  await pipeline(answer, response);
}

/** Names and values in turn, without those of the connection itself. */
function passedOn(raw: readonly string[], without: readonly string[] = []): string[] {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1]!] as const] : []));
  const named = pairs.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, value]) => value.toLowerCase().split(',').map((each) => each.trim()));
  return pairs.filter(([name]) => !OF_ONE_CONNECTION.has(name.toLowerCase()) && !named.includes(name.toLowerCase()) && !without.includes(name.toLowerCase())).flat();
}
