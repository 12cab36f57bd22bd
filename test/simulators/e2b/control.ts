/** The control plane: templates, builds, sandboxes, snapshots (github.com/e2b-dev/E2B, spec/openapi.yml, Apache-2.0). */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import type { Faults } from '../faults.js';
import type { Fault } from './faults.js';
import type { Machine, Machines, NewSandbox, Template } from './machines.js';

const ENVD_VERSION = '0.6.4';
const SLOW_MS = 2000;
/** Seconds that a sandbox of the smallest plan may live. */
const LONGEST_LIFE_S = 3600;

export interface Quota {
  /** Sandboxes at once; all others are refused with 429. */
  readonly concurrent: number;
  /** Creations in a second; all others are refused with 429 and Retry-After. */
  readonly creationsPerSecond: number;
}

interface Build {
  readonly template: Template;
  status: 'waiting' | 'building' | 'ready' | 'error';
  reason?: string;
  readonly log: string[];
}

class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

type Body = Readonly<Record<string, unknown>>;

export class Control {
  private readonly builds = new Map<string, Build>();
  private readonly creations: number[] = [];
  private creating = 0;

  constructor(
    private readonly machines: Machines,
    private readonly faults: Faults<Fault>,
    private readonly apiKey: string,
    private readonly quota: Quota,
  ) {}

  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    try {
      if (request.headers['x-api-key'] !== this.apiKey) throw new Refusal(401, 'the API key is not valid');
      if (this.faults.strikes('rateLimit')) throw new Refusal(429, 'rate limit exceeded', 1);
      if (this.faults.strikes('serverError')) throw new Refusal(Math.trunc(Date.now()) % 2 ? 500 : 503, 'something broke');
      const said = await text(request);
      const body = said === '' ? {} : (JSON.parse(said) as Body);
      const [status, value, headers] = await this.route(`${request.method} ${url.pathname}`, url.searchParams, body);
      if (value === LOST) return void response.destroy();
      if (value === undefined) response.writeHead(status, { 'content-length': 0 }).end();
      else response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
    } catch (error) {
      const { status, message, retryAfter } = error instanceof Refusal ? error : new Refusal(500, (error as Error).message);
      response.writeHead(status, { 'content-type': 'application/json', ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }) }).end(JSON.stringify({ code: status, message }));
    }
  }

  private async route(what: string, query: URLSearchParams, body: Body): Promise<[status: number, value?: unknown, headers?: Record<string, string>]> {
    const [, method, path] = /^(\w+) (.*)$/.exec(what)!;
    const is = (verb: string, pattern: RegExp): readonly string[] | undefined => (method === verb ? (pattern.exec(path!)?.slice(1).map(decodeURIComponent) ?? undefined) : undefined);
    let match: readonly string[] | undefined;
    if (is('POST', /^\/v2\/sandboxes$/)) return this.create(body as unknown as NewSandbox);
    if (is('GET', /^\/v2\/sandboxes$/)) return this.list(query);
    if ((match = is('POST', /^\/v2\/sandboxes\/([^/]+)\/connect$/))) return [200, await this.connect(this.machine(match[0]!), body)];
    if ((match = is('GET', /^\/sandboxes\/([^/]+)$/))) return [200, { ...listed(this.machine(match[0]!)), envdAccessToken: this.machine(match[0]!).envdAccessToken }];
    if ((match = is('DELETE', /^\/sandboxes\/([^/]+)$/))) return [(await this.machines.kill(this.machine(match[0]!).sandboxID)) ? 204 : 404];
    if ((match = is('POST', /^\/sandboxes\/([^/]+)\/timeout$/))) return [204, this.machine(match[0]!).setTimeout(lifetime(body.timeout))];
    if ((match = is('POST', /^\/sandboxes\/([^/]+)\/pause$/))) return this.pause(this.machine(match[0]!), body);
    if ((match = is('GET', /^\/sandboxes\/([^/]+)\/metrics$/))) return [200, await metrics(this.machine(match[0]!))];
    if ((match = is('POST', /^\/sandboxes\/([^/]+)\/fork$/))) return this.fork(this.machine(match[0]!), body);
    if ((match = is('POST', /^\/sandboxes\/([^/]+)\/snapshots$/))) return [201, snapshotInfo(await this.machines.snapshot(this.machine(match[0]!), typeof body.name === 'string' ? [body.name] : []))];
    if (is('GET', /^\/snapshots$/)) return [200, this.snapshots(query)];
    if (is('POST', /^\/v3\/templates$/)) return this.newTemplate(body);
    if ((match = is('DELETE', /^\/templates\/([^/]+)$/))) {
      if (!(await this.machines.removeTemplate(match[0]!))) throw new Refusal(404, `template '${match[0]}' not found`);
      return [204];
    }
    if ((match = is('GET', /^\/templates\/aliases\/([^/]+)$/))) return [200, { public: false, templateID: this.template(match[0]!).templateID }];
    if ((match = is('POST', /^\/v2\/templates\/([^/]+)\/builds\/([^/]+)$/))) return this.startBuild(match[1]!, body);
    if ((match = is('GET', /^\/templates\/([^/]+)\/builds\/([^/]+)\/status$/))) return [200, this.buildStatus(match[1]!, Number(query.get('logsOffset') ?? 0))];
    throw new Refusal(404, `the simulator has no ${what}`);
  }

  private async create(asked: NewSandbox): Promise<[number, unknown?]> {
    const now = Date.now();
    while (this.creations.length > 0 && this.creations[0]! <= now - 1000) this.creations.shift();
    if (this.creations.length >= this.quota.creationsPerSecond) throw new Refusal(429, 'you have exceeded the rate of sandbox creations', 1);
    if (this.machines.live.size + this.creating >= this.quota.concurrent) throw new Refusal(429, `you have reached the maximum number of concurrent E2B sandboxes (${this.quota.concurrent})`);
    if (lifetime(asked.timeout ?? 300) > LONGEST_LIFE_S) throw new Refusal(400, `timeout cannot be greater than ${LONGEST_LIFE_S / 3600} hours`);
    this.template(asked.templateID);
    this.creations.push(now);
    this.creating += 1;
    try {
      if (this.faults.strikes('slowCreate')) await pause(SLOW_MS);
      const machine = await this.machines.create(asked);
      if (machine === undefined) throw new Refusal(404, `template '${asked.templateID}' not found`);
      machine.zombie = this.faults.strikes('zombie');
      return [201, this.faults.strikes('lostReply') ? LOST : opened(machine)];
    } finally {
      this.creating -= 1;
    }
  }

  private list(query: URLSearchParams): [number, unknown, Record<string, string>] {
    const wanted = [...new URLSearchParams(query.get('metadata') ?? '')].map(([key, value]) => [decodeURIComponent(key), decodeURIComponent(value)] as const);
    const states = query.get('state')?.split(',');
    const limit = Number(query.get('limit') ?? 100);
    const at = Number(query.get('nextToken') ?? 0);
    const found = [...this.machines.live.values()].filter(({ state, asked }) => (!states || states.includes(state)) && wanted.every(([key, value]) => asked.metadata?.[key] === value));
    return [200, found.slice(at, at + limit).map(listed), at + limit < found.length ? { 'x-next-token': String(at + limit) } : {}];
  }

  private async connect(machine: Machine, body: Body): Promise<unknown> {
    if (machine.state === 'paused') await this.machines.resume(machine);
    machine.setTimeout(lifetime(body.timeout ?? 300));
    return opened(machine);
  }

  private async pause(machine: Machine, body: Body): Promise<[number]> {
    if (machine.state === 'paused') throw new Refusal(409, 'the sandbox is paused already');
    await this.machines.pause(machine, body.memory !== false);
    return [204];
  }

  private async fork(machine: Machine, body: Body): Promise<[number, unknown]> {
    const template = await this.machines.snapshot(machine, []);
    const children = Array.from({ length: Number(body.count ?? 1) }, async () => ({ sandbox: opened((await this.machines.create({ ...machine.asked, templateID: template.templateID, timeout: lifetime(body.timeout ?? 300) }))!) }));
    return [201, await Promise.all(children)];
  }

  private snapshots(query: URLSearchParams): unknown[] {
    const of = query.get('sandboxID');
    return [...this.machines.templates.values()].filter(({ sandboxID }) => sandboxID !== undefined && (of === null || of === sandboxID)).map(snapshotInfo);
  }

  private newTemplate(body: Body): [number, unknown] {
    const names = [String(body.name)];
    const template = this.machines.template(names[0]!) ?? this.machines.addTemplate(names, { cpuCount: body.cpuCount as number | undefined, memoryMB: body.memoryMB as number | undefined });
    const buildID = randomUUID();
    this.builds.set(buildID, { template, status: 'waiting', log: [] });
    return [202, { templateID: template.templateID, buildID, names, aliases: names, public: false, tags: [] }];
  }

  private startBuild(buildID: string, body: Body): [number] {
    const build = this.build(buildID);
    build.status = 'building';
    build.log.push(`Building from ${String(body.fromImage ?? body.fromTemplate)}`);
    void this.machines.build(build.template, (body.steps ?? []) as { type: string; args?: string[] }[], (line) => build.log.push(line)).then(
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
    const logEntries = log.slice(offset, offset + 100).map((message) => ({ timestamp: new Date().toISOString(), level: 'info', message }));
    return { buildID, templateID: template.templateID, status, logEntries, logs: logEntries.map(({ message }) => message), ...(reason === undefined ? {} : { reason: { message: reason } }) };
  }

  private build(buildID: string): Build {
    const build = this.builds.get(buildID);
    if (!build) throw new Refusal(404, `build '${buildID}' not found`);
    return build;
  }

  private template(name: string): Template {
    const template = this.machines.template(name);
    if (!template) throw new Refusal(404, `template '${name}' not found`);
    return template;
  }

  private machine(sandboxID: string): Machine {
    const machine = this.machines.live.get(sandboxID);
    if (!machine) throw new Refusal(404, `sandbox '${sandboxID}' not found`);
    return machine;
  }
}

/** In place of an answer: there is none. */
const LOST = Symbol('lost');

function lifetime(timeout: unknown): number {
  if (typeof timeout !== 'number' || !Number.isInteger(timeout) || timeout < 0) throw new Refusal(400, 'timeout must be a whole number of seconds');
  return timeout;
}

const opened = ({ sandboxID, template, envdAccessToken }: Machine): unknown => ({ sandboxID, templateID: template.templateID, clientID: 'simulator', envdVersion: ENVD_VERSION, envdAccessToken, domain: null });

function listed({ sandboxID, template, startedAt, endAt, state, asked }: Machine): object {
  const { cpuCount, memoryMB, templateID } = template;
  return { sandboxID, templateID, clientID: 'simulator', startedAt: new Date(startedAt).toISOString(), endAt: new Date(endAt).toISOString(), state, cpuCount, memoryMB, diskSizeMB: 10_240, metadata: asked.metadata ?? {}, envdVersion: ENVD_VERSION };
}

const snapshotInfo = ({ templateID, names }: Template): unknown => ({ snapshotID: templateID, names });

async function metrics({ sandbox, template }: Machine): Promise<unknown[]> {
  const { memory } = await sandbox.stats();
  const now = Date.now();
  return [{ timestamp: new Date(now).toISOString(), timestampUnix: Math.floor(now / 1000), cpuUsedPct: 0, cpuCount: template.cpuCount, memUsed: memory, memTotal: template.memoryMB << 20, memCache: 0, diskUsed: 0, diskTotal: 10_240 << 20 }];
}
