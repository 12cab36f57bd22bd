/** The data plane: what the daemon inside each sandbox answers (spec/envd of the same repository). */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { NoSuchFile } from '../../../src/sandbox/errors.js';
import { Answers, RpcError, answer, message, refuse } from './connect.js';
import type { Faults } from '../faults.js';
import type { Fault } from './faults.js';
import { filesystem } from './filesystem.js';
import type { Machine, Machines } from './machines.js';
import type { Selector, StartRequest } from './processes.js';

export class Envd {
  constructor(
    private readonly machines: Machines,
    private readonly faults: Faults<Fault>,
  ) {}

  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const machine = this.meant(request, url);
    const sandboxID = machine?.sandboxID ?? '';
    if (machine && url.pathname !== '/health' && this.faults.strikes('vanish')) void this.machines.kill(sandboxID);
    // The proxy in front of the sandboxes says that nobody is there.
    if (!machine || machine.zombie || machine.state === 'paused' || !this.machines.live.has(sandboxID)) {
      return void response.writeHead(502, { 'content-type': 'application/json' }).end(JSON.stringify({ sandboxId: sandboxID, message: 'The sandbox was not found', code: 502 }));
    }
    if (url.pathname === '/health') return void response.writeHead(204).end();
    if (!isAllowed(machine, request, url)) return void response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ code: 401, message: 'unauthorized access' }));
    if (this.faults.strikes('rateLimit')) return void response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' }).end(JSON.stringify({ code: 'resource_exhausted', message: 'rate limit exceeded' }));
    if (this.faults.strikes('serverError')) return void response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ code: 'internal', message: 'something broke' }));
    try {
      if (url.pathname === '/files') await this.files(machine, request, response, url);
      else await this.call(machine, request, response, url);
    } catch (error) {
      if (!this.machines.live.has(sandboxID)) response.destroy();
      else refuse(response, error);
    }
  }

  /** A signed URL names no sandbox but by its host, which here is the same for all. */
  private meant(request: IncomingMessage, url: URL): Machine | undefined {
    const named = request.headers['e2b-sandbox-id'];
    if (named !== undefined) return this.machines.live.get(String(named));
    return [...this.machines.live.values()].find((machine) => isAllowed(machine, request, url));
  }

  private async call(machine: Machine, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const [, service, method] = /^\/([^/]+)\/(\w+)$/.exec(url.pathname) ?? [];
    const body = await message(request);
    const { processes, sandbox } = machine;
    if (service === 'filesystem.Filesystem') return answer(response, await filesystem(sandbox, method!, body as object));
    if (service !== 'process.Process') throw new RpcError('unimplemented', `the simulator has no ${url.pathname}`);
    const listen = (): Answers => new Answers(response);
    switch (method) {
      case 'Start':
        return processes.start(body as StartRequest, Number(request.headers['connect-timeout-ms'] ?? 0), listen, (answers) => this.carriesOn(answers));
      case 'Connect':
        return processes.connect(body as Selector, listen);
      case 'List':
        return answer(response, processes.list());
      case 'SendInput':
        return answer(response, (await processes.input(body as Selector), {}));
      case 'CloseStdin':
        return answer(response, (processes.closeInput(body as Selector), {}));
      case 'SendSignal':
        return answer(response, (await processes.signal(body as Selector), {}));
      case 'Update':
        return answer(response, (processes.resize(body as Selector), {}));
      default:
        throw new RpcError('unimplemented', `the simulator has no ${url.pathname}`);
    }
  }

  private carriesOn(answers: Answers): boolean {
    const how = this.faults.strikes('reset') ? 'reset' : this.faults.strikes('truncate') ? 'silent' : undefined;
    if (how) answers.cut(how);
    return how === undefined;
  }

  private async files({ sandbox }: Machine, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const path = url.searchParams.get('path') ?? '';
    if (request.method === 'GET') return this.download(path, () => sandbox.files.stat(path), () => sandbox.files.read(path), response);
    const written: unknown[] = [];
    const write = async (name: string, data: Readable): Promise<void> => {
      const at = name.startsWith('/') ? name : `/root/${name}`;
      await sandbox.files.write(at, data);
      written.push({ name: at.split('/').at(-1), type: 'file', path: at });
    };
    if (request.headers['content-type']?.startsWith('multipart/')) {
      const form = await new Response(Readable.toWeb(request) as ReadableStream, { headers: { 'content-type': request.headers['content-type'] } }).formData();
      for (const [, part] of form) if (typeof part !== 'string') await write(path || part.name, Readable.fromWeb(part.stream() as never));
    } else await write(path, request);
    answer(response, written);
  }

  private async download(path: string, stat: () => Promise<{ size: number; type: string }>, read: () => Promise<Readable>, response: ServerResponse): Promise<void> {
    try {
      const [{ size, type }, data] = await Promise.all([stat(), read()]);
      if (type !== 'file') throw new RpcError('invalid_argument', `path '${path}' is not a file`);
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
      let left = this.faults.strikes('truncate') ? size / 2 : Infinity;
      const cut = new Transform({ transform: (chunk: Buffer, _, done) => ((left -= chunk.length) < 0 ? done(new Error('cut')) : done(null, chunk)) });
      await pipeline(data, cut, response).catch(() => undefined);
    } catch (error) {
      if (!(error instanceof NoSuchFile)) throw error;
      response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ code: 404, message: `path '${path}' does not exist` }));
    }
  }
}

/** By the sandbox's token, or by the signature of one request for a file. */
function isAllowed({ envdAccessToken }: Machine, request: IncomingMessage, { pathname, searchParams }: URL): boolean {
  if (request.headers['x-access-token'] === envdAccessToken) return true;
  const signature = searchParams.get('signature');
  if (pathname !== '/files' || signature === null) return false;
  const expires = searchParams.get('signature_expiration');
  if (expires !== null && Number(expires) < Date.now() / 1000) return false;
  const parts = [searchParams.get('path') ?? '', request.method === 'GET' ? 'read' : 'write', searchParams.get('username') ?? '', envdAccessToken, ...(expires === null ? [] : [expires])];
  return signature === `v1_${createHash('sha256').update(parts.join(':')).digest('base64').replace(/=+$/, '')}`;
}
