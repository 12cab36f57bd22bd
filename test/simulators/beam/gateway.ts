/** The REST gateway, `/api/v1/gateway`, and what is told of a stub, `/api/v1/stub`: what the vendor's SDK asks of it, and the calls beside those of beta9's `pod.proto` and `gateway.proto`. Answers as grpc-gateway gives them. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { Unsupported } from '../../../src/sandbox/errors.js';
import type { Faults } from '../faults.js';
import type { Container, Containers, StubBody } from './containers.js';
import type { Fault } from './faults.js';
import { files } from './files.js';

const ROOT = '/api/v1/gateway';
/** Of the one account. */
const WORKSPACE = 'simulated';
const SLOW_MS = 2000;
/** What the gateway's client of gRPC takes, and what its server takes, in bytes. */
const MOST_ANSWER = 4 << 20;
const MOST_REQUEST = 16 << 20;
/** Codes of gRPC, and the status that grpc-gateway makes of them. */
const GRPC = { 401: 16, 404: 5, 429: 8, 500: 13, 501: 12, 503: 14 } as const;

export interface Quota {
  /** Containers at once; all others are refused. */
  readonly concurrent: number;
  /** Creations in a second; all others are refused with 429 and Retry-After. */
  readonly creationsPerSecond: number;
}

class Refusal extends Error {
  constructor(
    readonly status: keyof typeof GRPC,
    message: string,
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** A failure as the service's own words, with status 200. */
class NotOk extends Error {}

export type Body = Readonly<Record<string, unknown>>;

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** In place of an answer: there is none. */
const LOST = Symbol('lost');

export class Gateway {
  private readonly creations: number[] = [];

  constructor(
    private readonly containers: Containers,
    private readonly faults: Faults<Fault>,
    private readonly token: string,
    private readonly url: () => string,
    private readonly quota: Quota,
  ) {}

  async handle(request: IncomingMessage, response: ServerResponse, { pathname, searchParams }: URL): Promise<void> {
    try {
      if (request.headers.authorization !== `Bearer ${this.token}`) throw new Refusal(401, 'Invalid or missing token');
      if (this.faults.strikes('rateLimit')) throw new Refusal(429, 'rate limit exceeded', 1);
      if (this.faults.strikes('serverError')) throw new Refusal(Date.now() % 2 ? 500 : 503, 'something broke');
      const said = await text(request);
      if (said.length > MOST_REQUEST) throw new Refusal(429, `grpc: received message larger than max (${said.length} vs. ${MOST_REQUEST})`);
      const body = said === '' ? {} : ((JSON.parse(said) as Body));
      const what = `${request.method} ${pathname.startsWith(ROOT) ? pathname.slice(ROOT.length) : pathname}`;
      if (what === 'POST /images/build') return await this.build(body, response);
      const value = await this.route(what, searchParams, body, request.headers);
      if (value === LOST) return void response.destroy();
      this.answer(response, /\/(exec|stdout|stderr|files\/download)/.test(what), value);
    } catch (error) {
      if (error instanceof NotOk) return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ok: false, errorMsg: error.message }));
      const { status, message, retryAfter } = error instanceof Refusal ? error : new Refusal(500, (error as Error).message);
      response.writeHead(status, { 'content-type': 'application/json', ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }) }).end(JSON.stringify(pathname.startsWith(ROOT) ? { code: GRPC[status], message, details: [] } : { message }));
    }
  }

  private answer(response: ServerResponse, breaks: boolean, value: unknown): void {
    const said = JSON.stringify(value);
    if (said.length > MOST_ANSWER) throw new Refusal(429, `grpc: received message larger than max (${said.length} vs. ${MOST_ANSWER})`);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(said) };
    if (!breaks || !this.faults.strikes('reset')) return void response.writeHead(200, headers).end(said);
    response.writeHead(200, headers).write(said.slice(0, said.length / 2), () => response.destroy());
  }

  private async route(what: string, query: URLSearchParams, body: Body, headers: IncomingMessage['headers']): Promise<unknown> {
    const [, method, path] = /^(\w+) (.*)$/.exec(what)!;
    const is = (verb: string, pattern: RegExp): readonly string[] | undefined => (method === verb ? pattern.exec(path!)?.slice(1).map(decodeURIComponent) : undefined);
    const key = headers['grpc-metadata-preparation-cache-key'] as string | undefined;
    let match: readonly string[] | undefined;
    if (is('GET', /^\/containers$/)) return { ok: true, errorMsg: '', containers: [...this.containers.live.values()].map(listed) };
    if ((match = is('POST', /^\/containers\/([^/]+)\/stop$/))) return (await this.containers.stop(match[0]!)) ? { ok: true, errorMsg: '' } : { ok: false, errorMsg: 'Container not found' };
    if (is('POST', /^\/images\/verify-build$/)) return this.verify(body);
    if ((match = is('GET', /^\/api\/v1\/stub\/([^/]+)\/([^/]+)$/))) return this.made(match[0]!, match[1]!);
    if (is('POST', /^\/stubs$/)) return this.stub(body, key);
    if (is('POST', /^\/pods$/)) return this.create(body, key);
    if ((match = is(method!, /^\/pods\/([^/]+)\/(.+)$/))) {
      const container = await this.reach(match[0]!);
      return this.inside(container, method!, path!.slice(path!.indexOf('/', 6) + 1), query, body);
    }
    throw new Refusal(501, `the simulator has no ${what}`);
  }

  private verify(body: Body): unknown {
    const imageId = typeof body.image_id === 'string' && body.image_id !== '' ? body.image_id : this.imageId(body);
    return { imageId, valid: true, exists: this.containers.images.has(imageId) };
  }

  private imageId({ existing_image_uri, python_version, python_packages, commands, dockerfile }: Body): string {
    return this.containers.imageId([existing_image_uri ?? '', python_version, python_packages, commands, dockerfile ?? '']);
  }

  /** A stream of answers, one in a line. */
  private async build(body: Body, response: ServerResponse): Promise<void> {
    const imageId = this.imageId(body);
    response.writeHead(200, { 'content-type': 'application/json' });
    const say = (result: unknown): unknown => response.write(`${JSON.stringify({ result })}\n`);
    say({ imageId: '', msg: `Building from ${String(body.existing_image_uri)}\n`, done: false, success: false, pythonVersion: '', warning: false });
    try {
      await this.containers.build(imageId, (body.commands ?? []) as string[], (msg) => say({ imageId: '', msg, done: false, success: false, pythonVersion: '', warning: false }));
      say({ imageId, msg: '', done: true, success: true, pythonVersion: body.python_version ?? '', warning: false });
    } catch (error) {
      say({ imageId: '', msg: (error as Error).message, done: true, success: false, pythonVersion: '', warning: false });
    }
    response.end();
  }

  private stub(body: StubBody, key: string | undefined): unknown {
    if (!this.containers.images.has(body.image_id ?? '')) return { ok: false, stubId: '', errMsg: 'image not found' };
    const { stubId } = this.containers.addStub(body);
    if (key !== undefined) this.containers.prepared.set(key, stubId);
    return { ok: true, stubId, errMsg: '', warnMsg: '' };
  }

  /** Not by grpc-gateway: names are those of the database, as in beta9's `pkg/types/backend.go`. */
  private made(workspaceId: string, stubId: string): unknown {
    if (workspaceId !== WORKSPACE || this.faults.strikes('noNames')) throw new Refusal(401, 'Unauthorized');
    const stub = this.containers.stubs.get(stubId);
    if (!stub) throw new Refusal(404, '');
    const at = stub.createdAt.toISOString();
    const about = { id: stubId, external_id: stubId, name: stub.body.name ?? '', type: 'sandbox', config: JSON.stringify({ keep_warm_seconds: stub.body.keep_warm_seconds }), config_version: 1 };
    return { ...about, created_at: at, updated_at: at, public: false, workspace: { id: WORKSPACE, external_id: WORKSPACE, name: WORKSPACE } };
  }

  private create(body: Body, key: string | undefined): unknown {
    const checkpoint = this.containers.checkpoints.get(textOf(body.checkpointId) ?? '');
    if (body.checkpointId && !checkpoint) throw new NotOk('checkpoint not found');
    const stubId = checkpoint?.stub.stubId ?? textOf(body.stubId) ?? textOf(body.stub_id) ?? this.containers.prepared.get(key ?? '') ?? '';
    const stub = this.containers.stubs.get(stubId);
    if (!stub) return { ok: false, containerId: '', errorMsg: '', stubId: '' };
    const now = Date.now();
    while (this.creations.length > 0 && this.creations[0]! <= now - 1000) this.creations.shift();
    if (this.creations.length >= this.quota.creationsPerSecond) throw new Refusal(429, 'rate of creations exceeded', 1);
    if (this.containers.live.size >= this.quota.concurrent) throw new NotOk('concurrency limit has been reached');
    this.creations.push(now);
    const from = !this.faults.strikes('coldStart') ? checkpoint : checkpoint ? undefined : {};
    const container = this.containers.create(stub, this.faults.strikes('slowCreate') ? pause(SLOW_MS) : Promise.resolve(), from);
    container.zombie = this.faults.strikes('zombie');
    return this.faults.strikes('lostReply') ? LOST : { ok: true, containerId: container.containerId, errorMsg: '', stubId };
  }

  /** @throws NotOk if nobody answers */
  private async reach(containerId: string): Promise<Container> {
    const container = this.containers.live.get(containerId);
    if (container && this.faults.strikes('vanish')) await this.containers.stop(containerId);
    await container?.ready.catch(() => undefined);
    if (!container || !this.containers.live.has(containerId)) throw new NotOk('Failed to connect to sandbox');
    return container;
  }

  private async inside(container: Container, method: string, path: string, query: URLSearchParams, body: Body): Promise<unknown> {
    const call = `${method} ${path}`;
    if (call === 'POST connect') return { ok: true, errorMsg: '', stubId: container.stub.stubId };
    if (container.zombie) throw new NotOk('Failed to connect to sandbox');
    const { processes, ports, containerId } = container;
    const process = (): Required<typeof processes.all> extends Map<number, infer P> ? P : never => {
      const found = processes.all.get(Number(query.get('pid') ?? body.pid));
      if (!found) throw new NotOk('Process not found');
      return found;
    };
    switch (call) {
      case 'POST exec': {
        const started = await processes.start(String(body.command), body.cwd as string | undefined, body.env as Record<string, string> | undefined, body.wait === true);
        if (!started) throw new NotOk(this.containers.live.has(containerId) ? 'Failed to execute command' : 'Failed to connect to sandbox');
        const done = body.wait === true && !started.running;
        return { ok: true, errorMsg: '', pid: started.pid, done, exitCode: started.exitCode, stdout: done ? this.said(started.stdout) : '', stderr: done ? this.said(started.stderr) : '' };
      }
      case 'GET status': {
        const { exitCode, running } = process();
        return { ok: true, errorMsg: '', status: running ? 'running' : 'exited', exitCode };
      }
      case 'GET stdout':
        return { ok: true, errorMsg: '', stdout: this.said(process().stdout) };
      case 'GET stderr':
        return { ok: true, errorMsg: '', stderr: this.said(process().stderr) };
      case 'POST kill':
        await processes.kill(process().pid);
        return { ok: true, errorMsg: '' };
      case 'GET processes':
        return { ok: true, errorMsg: '', processes: [...processes.all.values()].map(({ pid, command, cwd, exitCode, running }) => ({ pid, cmd: command, cwd, env: [], exitCode, running })) };
      case 'POST ports/expose':
        ports.add(Number(body.port));
        return { ok: true, errorMsg: '', url: this.urlOf(container, Number(body.port)) };
      case 'GET urls':
        return { ok: true, errorMsg: '', urls: Object.fromEntries([...ports].map((port) => [port, this.urlOf(container, port)])) };
      case 'POST ttl':
        container.setTtl(Number(body.ttl));
        return { ok: true, errorMsg: '' };
      case 'POST create-image-from-filesystem':
        return { ok: true, errorMsg: '', imageId: await this.snapshot(container, String(body.stubId)) };
      case 'POST snapshot-memory':
        return { ok: true, errorMsg: '', checkpointId: await this.checkpoint(container) };
      default:
        return files(container.sandbox!, call, query, body, this.faults, (message) => new NotOk(message), () => new Refusal(501, `the simulator has no ${call}`));
    }
  }

  private async snapshot(container: Container, stubId: string): Promise<string> {
    if (this.faults.strikes('snapshotFails')) throw new NotOk('failed to archive the container');
    const taken = [...this.containers.images.values()].find(({ snapshot }) => snapshot !== undefined);
    if (taken && this.faults.strikes('duplicateImage')) return taken.imageId;
    return (await this.containers.snapshot(container, `${stubId}-${Math.trunc(Date.now() / 1000)}`)).imageId;
  }

  private async checkpoint(container: Container): Promise<string> {
    if (this.faults.strikes('snapshotFails')) throw new NotOk('failed to checkpoint the container');
    const { checkpointId } = await this.containers.checkpoint(container).catch((error: unknown) => {
      throw new NotOk(error instanceof Unsupported ? `checkpoints are not enabled on this cluster: ${error.message}` : (error as Error).message);
    });
    return checkpointId;
  }

  private urlOf({ stub }: Container, port: number): string {
    return `${this.url()}/sandbox/id/${stub.stubId}/${port}`;
  }

  /** A text is all that gRPC has for it. */
  private said(chunks: readonly Buffer[]): string {
    const bytes = Buffer.concat(chunks);
    if (!isUtf8(bytes)) throw new Refusal(500, 'grpc: error while marshaling: string field contains invalid UTF-8');
    const whole = bytes.toString();
    return whole.length > 0 && this.faults.strikes('truncate') ? whole.slice(0, whole.length / 2) : whole;
  }
}

const listed = ({ containerId, stub, status, scheduledAt }: Container): unknown => ({ containerId, stubId: stub.stubId, status, scheduledAt: seconds(scheduledAt), workspaceId: WORKSPACE, deploymentId: '' });

/** The service knows this time in whole ones, the rest cut off. */
const seconds = (time: Date): string => time.toISOString().replace(/\.\d+/, '');
