/** The programs that a template has started in every sandbox: one after another, each waited for until it is ready. */
import { request } from 'node:http';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { NothingListens, SandboxError, SandboxLost, Suspended } from '../sandbox/errors.js';
import type { ExecProcess, Sandbox } from '../sandbox/provider.js';
import type { ServiceSpec } from '../template/template.js';
import { ServiceLog } from './serviceLog.js';

const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 500;
/** How long one question whether it is ready may take. */
const PROBE_TIMEOUT_MS = 10_000;

/** A service did not become ready. One that ended by itself would do so again. */
export class ServiceFailed extends SandboxError {
  constructor(
    readonly service: string,
    message: string,
    override readonly retryable: boolean,
  ) {
    super(message);
  }
}

export interface ServicesContext {
  readonly signal: AbortSignal;
  /** Takes secrets out of what they write. */
  readonly clean: (stream: Readable) => Readable;
  readonly onChange?: () => void;
}

export class Service {
  readonly log = new ServiceLog();
  state: 'starting' | 'ready' | 'failed' | 'ended' = 'starting';
  /** Why it is not ready, or how it ended; may quote what it wrote. */
  problem: string | undefined;
  readyMs: number | undefined;

  constructor(
    readonly spec: ServiceSpec,
    private readonly context: ServicesContext,
  ) {}

  get name(): string {
    return this.spec.name;
  }

  /** Starts it and waits until it is ready. Rejects with `ServiceFailed`, with why the sandbox cannot be asked, or with the signal's reason. */
  async start(sandbox: Sandbox): Promise<void> {
    const { run, timeoutMs } = this.spec;
    const start = performance.now();
    const child = sandbox.exec(['sh', '-c', run], { lasting: true });
    for (const stream of [child.stdout, child.stderr]) this.context.clean(stream).on('data', (chunk: Buffer) => this.log.write(chunk));
    const ended = this.watch(child);
    const late = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([late, this.context.signal]);
    try {
      await this.untilReady(sandbox, ended, signal);
    } catch (error) {
      const failure = late.aborted && !this.context.signal.aborted && !(error instanceof ServiceFailed) ? this.failure(`was not ready within ${timeoutMs / 1000} s`, true) : error;
      this.become('failed', (failure as Error).message);
      throw failure;
    }
    this.readyMs = performance.now() - start;
    if (this.state === 'starting') this.become('ready');
  }

  /** Resolves, never rejects, with its exit code, or with why that cannot be known. */
  private async watch({ exit }: ExecProcess): Promise<number | Error> {
    const how = await exit.then(({ code }) => code, (error: Error) => error);
    // One that goes on in the background has done well, and one that is suspended goes on with its sandbox.
    if (!(how instanceof Suspended) && this.state === 'ready') this.become('ended', typeof how === 'number' ? `it ended with exit code ${how}` : how.message);
    return how;
  }

  private async untilReady(sandbox: Sandbox, ended: Promise<number | Error>, signal: AbortSignal): Promise<void> {
    if (this.spec.ready === undefined) return;
    let how: number | Error | undefined;
    void ended.then((value) => (how = value));
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 1.5, LONGEST_WAIT_MS)) {
      signal.throwIfAborted();
      if (how instanceof Error) throw how;
      if (how !== undefined && how !== 0) throw this.failure(`ended with exit code ${how} before it was ready`, false);
      if (await this.isReady(sandbox, signal)) return;
      await Promise.race([pause(wait, undefined, { signal }), ...(how === undefined ? [ended] : [])]);
    }
  }

  private async isReady(sandbox: Sandbox, signal: AbortSignal): Promise<boolean> {
    const ready = this.spec.ready!;
    const limits = { signal, timeoutMs: PROBE_TIMEOUT_MS };
    try {
      if ('port' in ready) return (await sandbox.ports(limits)).some(({ port }) => port === ready.port);
      if ('http' in ready) return await answers(sandbox, ready.http, AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]));
      const child = sandbox.exec(['sh', '-c', ready.command], limits);
      child.stdout.resume();
      child.stderr.resume();
      return (await child.exit).code === 0;
    } catch (error) {
      if (error instanceof SandboxLost) throw error;
      signal.throwIfAborted();
      return false;
    }
  }

  private failure(how: string, retryable: boolean): ServiceFailed {
    const last = this.log.lastLine();
    return new ServiceFailed(this.name, `the service ${this.name} ${how}${last ? `: ${last}` : ''}`, retryable);
  }

  private become(state: Service['state'], problem?: string): void {
    this.state = state;
    this.problem = problem;
    this.context.onChange?.();
  }
}

/** Starts services in their order. Those that were started are in `services` also when this rejects. */
export async function startServices(sandbox: Sandbox, specs: readonly ServiceSpec[], services: Service[], context: ServicesContext): Promise<void> {
  for (const spec of specs) {
    const service = new Service(spec, context);
    services.push(service);
    await service.start(sandbox);
  }
}

async function answers(sandbox: Sandbox, { port, path }: { readonly port: number; readonly path: string }, signal: AbortSignal): Promise<boolean> {
  const connection = await sandbox.connect(port, { signal }).catch((error: unknown) => {
    if (error instanceof NothingListens) return undefined;
    throw error;
  });
  if (!connection) return false;
  try {
    const asked = request({ path, headers: { host: `localhost:${port}` }, createConnection: () => connection, signal }).end();
    asked.on('error', () => undefined);
    const [response] = (await once(asked, 'response', { signal })) as [Readable & { readonly statusCode: number }];
    response.on('error', () => undefined).resume();
    return response.statusCode < 400;
  } finally {
    connection.destroy();
  }
}
