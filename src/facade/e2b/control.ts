/** The control plane: templates, builds, sandboxes, snapshots (github.com/e2b-dev/E2B, spec/openapi.yml, Apache-2.0). */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { isSame } from './access.js';
import { TooLarge, bodyOf } from './body.js';
import { Refusal, connection, forkRequest, lifetime, newSandbox, type Account, type Machine, type TemplateBuild, type TemplateInfo } from './machine.js';

/** What clients take it for, and so what they may ask of it. */
const ENVD_VERSION = '0.6.4';
const MOST_BODY = 16 << 20;
/** Builds whose ends can still be asked for. */
const BUILDS_KEPT = 100;

interface Build {
  readonly template: TemplateInfo;
  status: 'waiting' | 'building' | 'ready' | 'error';
  reason?: string;
  readonly log: { readonly timestamp: string; readonly level: 'info'; readonly message: string }[];
}

type Answer = [status: number, value?: unknown, headers?: Record<string, string>];
type Handler = (parts: readonly string[], body: unknown, query: URLSearchParams, gone: AbortSignal) => Promise<Answer> | Answer;

export class Control {
  private readonly builds = new Map<string, Build>();

  constructor(
    private readonly account: Account,
    private readonly apiKey: string,
    /** Of public addresses of sandboxes; null where there is none. */
    private readonly domain: () => string | null,
  ) {}

  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('the client has gone')));
    try {
      if (!isSame(request.headers['x-api-key'], this.apiKey)) throw new Refusal(401, 'the API key is not valid');
      const text = (await bodyOf(request, MOST_BODY)).toString();
      const [status, value, headers] = await this.route(request.method!, url, text, gone.signal);
      if (value === undefined) response.writeHead(status, { 'content-length': 0 }).end();
      else response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
    } catch (error) {
      const { status, message, retryAfter } = refusalOf(error);
      response.writeHead(status, { 'content-type': 'application/json', ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }) }).end(JSON.stringify({ code: status, message }));
    }
  }

  private async route(method: string, url: URL, text: string, gone: AbortSignal): Promise<Answer> {
    for (const [verb, pattern, handler] of this.routes) {
      const parts = verb === method ? pattern.exec(url.pathname)?.slice(1).map(decodeURIComponent) : undefined;
      if (parts) return handler(parts, text === '' ? {} : JSON.parse(text), url.searchParams, gone);
    }
    throw new Refusal(404, `there is no ${method} ${url.pathname} here`);
  }

  /** Older clients leave `/v2` out. */
  private readonly routes: readonly (readonly [string, RegExp, Handler])[] = [
    ['POST', /^(?:\/v2)?\/sandboxes$/, (_, body, __, gone) => this.create(body, gone)],
    ['GET', /^(?:\/v2)?\/sandboxes$/, (_, __, query) => this.list(query)],
    ['POST', /^(?:\/v2)?\/sandboxes\/([^/]+)\/connect$/, async ([id], body) => [200, await this.connect(this.machine(id!), body)]],
    ['GET', /^\/sandboxes\/([^/]+)$/, ([id]) => [200, { ...listed(this.machine(id!)), envdAccessToken: this.machine(id!).envdAccessToken, domain: this.domain() }]],
    ['DELETE', /^\/sandboxes\/([^/]+)$/, async ([id]) => (await this.account.kill(this.machine(id!)), [204])],
    ['POST', /^\/sandboxes\/([^/]+)\/timeout$/, ([id], body) => (this.machine(id!).setTimeout(this.life(lifetime.parse(body).timeout)), [204])],
    ['POST', /^\/sandboxes\/([^/]+)\/pause$/, ([id], body) => this.pause(this.machine(id!), body)],
    ['GET', /^\/sandboxes\/([^/]+)\/metrics$/, async ([id]) => [200, [await metrics(this.machine(id!))]]],
    ['POST', /^\/sandboxes\/([^/]+)\/fork$/, ([id], body) => this.fork(this.machine(id!), body)],
    ['POST', /^\/sandboxes\/([^/]+)\/snapshots$/, ([id], body) => this.snapshot(this.machine(id!), body)],
    ['GET', /^\/snapshots$/, async (_, __, query) => [200, await this.account.snapshots(query.get('sandboxID') ?? undefined)]],
    ['POST', /^\/v3\/templates$/, (_, body) => this.newTemplate(body)],
    ['DELETE', /^\/templates\/([^/]+)$/, ([name]) => this.removeTemplate(name!)],
    ['GET', /^\/templates\/aliases\/([^/]+)$/, async ([name]) => [200, { public: false, templateID: (await this.template(name!)).templateID }]],
    ['POST', /^\/v2\/templates\/[^/]+\/builds\/([^/]+)$/, ([id], body) => this.startBuild(id!, body)],
    ['GET', /^\/templates\/[^/]+\/builds\/([^/]+)\/status$/, ([id], _, query) => [200, this.buildStatus(id!, Number(query.get('logsOffset') ?? 0))]],
  ];

  private async create(body: unknown, gone: AbortSignal): Promise<Answer> {
    const asked = newSandbox.parse(body);
    this.life(asked.timeout);
    return [201, this.opened(await this.account.create(asked, gone))];
  }

  private list(query: URLSearchParams): Answer {
    const wanted = [...new URLSearchParams(query.get('metadata') ?? '')].map(([key, value]) => [decodeURIComponent(key), decodeURIComponent(value)] as const);
    const states = query.get('state')?.split(',');
    const limit = Number(query.get('limit') ?? 100);
    const at = Number(query.get('nextToken') ?? 0);
    const found = [...this.account.live.values()].filter(({ state, asked }) => (!states || states.includes(state)) && wanted.every(([key, value]) => asked.metadata?.[key] === value));
    return [200, found.slice(at, at + limit).map(listed), at + limit < found.length ? { 'x-next-token': String(at + limit) } : {}];
  }

  private async connect(machine: Machine, body: unknown): Promise<unknown> {
    const { timeout: asked, memory } = connection.parse(body);
    const timeout = this.life(asked);
    if (machine.state === 'paused') {
      await this.account.resume(machine);
      if (memory === false) await machine.restart();
    }
    machine.setTimeout(timeout);
    return this.opened(machine);
  }

  private async pause(machine: Machine, body: unknown): Promise<Answer> {
    if (machine.state === 'paused') throw new Refusal(409, 'the sandbox is paused already');
    const { memory } = z.looseObject({ memory: z.boolean().default(true) }).parse(body);
    await this.account.pause(machine, memory);
    return [204];
  }

  private async fork(machine: Machine, body: unknown): Promise<Answer> {
    const { count, timeout } = forkRequest.parse(body);
    const children = await this.account.fork(machine, count, this.life(timeout));
    return [201, children.map((child) => {
      if (child.status === 'fulfilled') return { sandbox: this.opened(child.value) };
      const { status, message } = refusalOf(child.reason);
      return { error: { code: status, message } };
    })];
  }

  private async snapshot(machine: Machine, body: unknown): Promise<Answer> {
    const { name } = z.looseObject({ name: z.string().nullish() }).parse(body);
    return [201, await this.account.snapshot(machine, name ?? undefined)];
  }

  private async removeTemplate(name: string): Promise<Answer> {
    if (!(await this.account.removeTemplate(name))) throw new Refusal(404, `template '${name}' not found`);
    return [204];
  }

  private async newTemplate(body: unknown): Promise<Answer> {
    const { name, ...size } = z.looseObject({ name: z.string(), cpuCount: z.int().min(1).optional(), memoryMB: z.int().min(1).optional() }).parse(body);
    const template = await this.account.newTemplate(name, size);
    const buildID = randomUUID();
    this.builds.set(buildID, { template, status: 'waiting', log: [] });
    for (const [id, { status }] of this.builds) if (this.builds.size > BUILDS_KEPT && status !== 'building') this.builds.delete(id);
    return [202, { templateID: template.templateID, buildID, names: [name], aliases: [name], public: false, tags: [] }];
  }

  private startBuild(buildID: string, body: unknown): Answer {
    const build = this.build(buildID);
    const asked = z.looseObject({ fromImage: z.string().optional(), fromTemplate: z.string().optional(), startCmd: z.string().optional(), steps: z.array(z.looseObject({ type: z.string(), args: z.array(z.string()).optional() })).optional() }).parse(body) satisfies TemplateBuild;
    const log = (message: string): void => void build.log.push({ timestamp: new Date().toISOString(), level: 'info', message });
    build.status = 'building';
    log(`Building from ${asked.fromImage ?? asked.fromTemplate ?? 'the default'}`);
    void this.account.build(build.template, asked, log).then(
      () => (build.status = 'ready'),
      (error: Error) => {
        build.status = 'error';
        build.reason = error.message;
      },
    );
    return [202];
  }

  private buildStatus(buildID: string, offset: number): unknown {
    const { template, status, reason, log } = this.build(buildID);
    const logEntries = log.slice(offset, offset + 100);
    return { buildID, templateID: template.templateID, status, logEntries, logs: logEntries.map(({ message }) => message), ...(reason === undefined ? {} : { reason: { message: reason } }) };
  }

  private build(buildID: string): Build {
    const build = this.builds.get(buildID);
    if (!build) throw new Refusal(404, `build '${buildID}' not found`);
    return build;
  }

  private async template(name: string): Promise<TemplateInfo> {
    const template = await this.account.template(name);
    if (!template) throw new Refusal(404, `template '${name}' not found`);
    return template;
  }

  private machine(sandboxID: string): Machine {
    const machine = this.account.live.get(sandboxID);
    if (!machine) throw new Refusal(404, `sandbox '${sandboxID}' not found`);
    return machine;
  }

  private life(timeout: number): number {
    const { longestLifeS } = this.account;
    if (timeout > longestLifeS) throw new Refusal(400, `timeout cannot be greater than ${longestLifeS / 3600} hours`);
    return timeout;
  }

  private opened({ sandboxID, template, envdAccessToken }: Machine): unknown {
    return { sandboxID, templateID: template.templateID, clientID: 'local', envdVersion: ENVD_VERSION, envdAccessToken, domain: this.domain() };
  }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof z.ZodError) return new Refusal(400, error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`)).join('; '));
  if (error instanceof SyntaxError || error instanceof URIError) return new Refusal(400, 'the request cannot be read');
  return new Refusal(error instanceof TooLarge ? 413 : 500, (error as Error).message);
}

function listed({ sandboxID, template, startedAt, endAt, state, asked }: Machine): object {
  const { cpuCount, memoryMB, templateID } = template;
  return { sandboxID, templateID, clientID: 'local', startedAt: new Date(startedAt).toISOString(), endAt: new Date(endAt).toISOString(), state, cpuCount, memoryMB, diskSizeMB: 0, metadata: asked.metadata ?? {}, envdVersion: ENVD_VERSION };
}

async function metrics(machine: Machine): Promise<unknown> {
  const { cpuCount, memoryMB } = machine.template;
  const { memory, cpu } = await machine.usage();
  const now = Date.now();
  return { timestamp: new Date(now).toISOString(), timestampUnix: Math.floor(now / 1000), cpuUsedPct: cpu / cpuCount, cpuCount, memUsed: memory, memTotal: memoryMB * 2 ** 20, memCache: 0, diskUsed: 0, diskTotal: 0 };
}

