/** The data plane: what the daemon inside each sandbox answers (github.com/e2b-dev/E2B, spec/envd, Apache-2.0). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline as flow, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { NoSuchFile } from '../../sandbox/errors.js';
import { checkUser, mayEnter } from './access.js';
import { bodyOf } from './body.js';
import { Answers, RpcError, answer, message, refuse } from './connect.js';
import { filesystem, resolvePath } from './filesystem.js';
import type { Machine } from './machine.js';
import { PING, type StartRequest } from './processes.js';

/** Of files that come as a form, which is taken in whole; one that comes as it is may be of any size. */
const MOST_FORM = 512 << 20;

export async function handleEnvd(machine: Machine, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
  if (url.pathname === '/health') return void response.writeHead(204).end();
  if (!mayEnter(machine, request, url)) return void response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ code: 401, message: 'unauthorized access' }));
  try {
    checkUser(machine.template, request, url);
    if (url.pathname === '/files') await files(machine, request, response, url);
    else await call(machine, request, response, url);
  } catch (error) {
    refuse(response, error);
  }
}

async function call(machine: Machine, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
  const [, service, method] = /^\/([^/]+)\/(\w+)$/.exec(url.pathname) ?? [];
  const body = await message(request);
  const { processes } = machine;
  if (service === 'filesystem.Filesystem') return answer(response, await filesystem(machine, method!, body));
  if (service !== 'process.Process') throw new RpcError('unimplemented', `there is no ${url.pathname} here`);
  const listen = (): Answers => new Answers(response, PING);
  switch (method) {
    case 'Start':
      return processes.start(await withFolder(machine, body), Number(request.headers['connect-timeout-ms'] ?? 0), listen);
    case 'Connect':
      return processes.connect(body, listen);
    case 'List':
      return answer(response, await processes.list());
    case 'SendInput':
      return answer(response, (await processes.input(body), {}));
    case 'CloseStdin':
      return answer(response, (processes.closeInput(body), {}));
    case 'SendSignal':
      return answer(response, (await processes.signal(body), {}));
    case 'Update':
      return answer(response, (processes.resize(body), {}));
    default:
      throw new RpcError('unimplemented', `there is no ${url.pathname} here`);
  }
}

async function withFolder(machine: Machine, request: StartRequest): Promise<StartRequest> {
  const { process } = request;
  return process?.cwd ? { ...request, process: { ...process, cwd: await resolvePath(machine, process.cwd) } } : request;
}

async function files(machine: Machine, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
  const path = url.searchParams.get('path') ?? '';
  if (request.method === 'GET') return download(machine, path, response);
  if (request.method !== 'POST') throw new RpcError('unimplemented', `files are read with GET and written with POST`);
  const written: unknown[] = [];
  const write = async (name: string, data: Readable | Buffer): Promise<void> => {
    const at = await resolvePath(machine, name);
    await machine.sandbox.files.write(at, data);
    written.push({ name: at.split('/').at(-1), type: 'file', path: at });
  };
  if (request.headers['content-type']?.startsWith('multipart/')) {
    const form = await new Response(await bodyOf(request, MOST_FORM), { headers: { 'content-type': request.headers['content-type'] } }).formData().catch(() => Promise.reject(new RpcError('invalid_argument', 'the form cannot be read')));
    for (const [, part] of form) if (typeof part !== 'string') await write(path || part.name, Buffer.from(await part.arrayBuffer()));
  } else await write(path, request.headers['content-encoding'] === 'gzip' ? flow(request, createGunzip(), () => undefined) : request);
  answer(response, written);
}

async function download(machine: Machine, name: string, response: ServerResponse): Promise<void> {
  const path = await resolvePath(machine, name);
  const { files: own } = machine.sandbox;
  try {
    const { size, type } = await own.stat(path);
    if (type !== 'file') throw new RpcError('invalid_argument', `path '${path}' is not a file`);
    const data = await own.read(path);
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
    await pipeline(data, response).catch(() => undefined);
  } catch (error) {
    if (!(error instanceof NoSuchFile)) throw error;
    response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ code: 404, message: `path '${path}' does not exist` }));
  }
}
