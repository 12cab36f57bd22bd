/** The engine as the extension sees it: started on first use, started again once if it dies. Knows nothing of VS Code. */
import * as l10n from '@vscode/l10n';
import { EventEmitter } from 'node:events';
import type { RunnerNotifications, RunnerRequests } from '../runner/api.js';
import { RunnerError, type RequestOptions } from '../runner/client.js';
import { RunnerProcess, type ExitInfo } from './runnerProcess.js';

export interface RunnerOptions {
  readonly execPath: string;
  readonly script: string;
  readonly startTimeoutMs?: number;
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void;
  /** Whether more than looking is allowed: in a workspace that is not trusted nothing is run, made or removed. */
  readonly mayAct: () => boolean;
  /** The engine died. `restarting` is false the second time: then only `restart` starts it again. */
  readonly onDied: (exit: ExitInfo, restarting: boolean) => void;
}

/** A second death within this time is not followed by another start: it would only die again. */
const RESTART_WINDOW_MS = 5 * 60_000;

const SECOND = 1000;
/** Requests that only look. A diagnosis starts a sandbox of its own, from the folder that it is given: see `Setup`. */
const LOOKS: ReadonlySet<keyof RunnerRequests> = new Set(['doctor', 'template/status', 'run/list', 'run/snapshot', 'run/rows', 'run/episode', 'run/export', 'shutdown']);

/** Milliseconds until an answer is given up. A build has no bound here: each of its steps has one in the engine, and a person can cancel it. */
const DEADLINES: Record<keyof RunnerRequests, number | undefined> = {
  'doctor': 60 * SECOND,
  'template/status': 60 * SECOND,
  'build': undefined,
  'run/start': 60 * SECOND,
  'run/resume': 60 * SECOND,
  'run/rerun': 60 * SECOND,
  'run/cancel': 180 * SECOND,
  'run/delete': 60 * SECOND,
  'run/list': 30 * SECOND,
  'run/snapshot': 30 * SECOND,
  'run/rows': 30 * SECOND,
  'run/episode': 30 * SECOND,
  'run/export': 600 * SECOND,
  'sandbox/list': 60 * SECOND,
  'sandbox/terminate': 60 * SECOND,
  'snapshot/delete': 120 * SECOND,
  'shutdown': 10 * SECOND,
};

export class Runner {
  private readonly events = new EventEmitter().setMaxListeners(0);
  private current: Promise<RunnerProcess> | undefined;
  private diedAt: number | undefined;
  private givenUp = false;
  private stopped = false;

  constructor(private readonly options: RunnerOptions) {}

  /** Starts the engine if it is not there. Rejects with `RunnerError` (code `Untrusted` for what may not be done), or with the signal's reason. */
  async request<K extends keyof RunnerRequests>(method: K, params: RunnerRequests[K]['params'], { signal }: RequestOptions = {}): Promise<RunnerRequests[K]['result']> {
    if (!LOOKS.has(method) && !this.options.mayAct()) throw new RunnerError(l10n.t('this workspace is not trusted, so nothing in it is run'), { code: 'Untrusted' });
    const ms = DEADLINES[method];
    const deadline = ms === undefined ? undefined : AbortSignal.timeout(ms);
    const signals = [signal, deadline].filter((one) => one !== undefined);
    try {
      const { client } = await this.get();
      return await client.request(method, params, signals.length ? { signal: AbortSignal.any(signals) } : {});
    } catch (error) {
      if (deadline?.aborted && !signal?.aborted) throw new RunnerError(l10n.t('the engine did not answer within {0} s', ms! / 1000), { code: 'Timeout' }, { cause: error });
      throw error;
    }
  }

  on<K extends keyof RunnerNotifications>(method: K, listener: (params: RunnerNotifications[K]) => void): { dispose(): void } {
    this.events.on(method, listener);
    return { dispose: () => this.events.off(method, listener) };
  }

  /** The engine answers (again): whatever was known of it may be out of date. */
  onStarted(listener: () => void): { dispose(): void } {
    this.events.on('started', listener);
    return { dispose: () => this.events.off('started', listener) };
  }

  /** Process id of the engine that runs, if one does. */
  async pid(): Promise<number | undefined> {
    return (await this.current?.catch(() => undefined))?.pid;
  }

  /** Ends the engine, if it runs, and starts it again. */
  async restart(): Promise<void> {
    this.givenUp = false;
    this.diedAt = undefined;
    const old = this.current;
    this.current = undefined;
    await (await old?.catch(() => undefined))?.stop(10 * SECOND);
    await this.get();
  }

  /** Ends the engine and all it runs within the deadline; nothing starts it again. */
  async stop(timeoutMs: number): Promise<void> {
    this.stopped = true;
    const running = this.current;
    this.current = undefined;
    await (await running?.catch(() => undefined))?.stop(timeoutMs);
  }

  private get(): Promise<RunnerProcess> {
    if (this.stopped) return Promise.reject(new RunnerError(l10n.t('the engine was stopped'), { code: 'ConnectionClosed' }));
    if (this.givenUp) return Promise.reject(new RunnerError(l10n.t('the engine stopped twice in a row and was not started again'), { code: 'GivenUp' }));
    return (this.current ??= this.start());
  }

  private async start(): Promise<RunnerProcess> {
    const { execPath, script, startTimeoutMs = 20 * SECOND, log } = this.options;
    try {
      const started = await RunnerProcess.start({ execPath, script, startTimeoutMs, onStderr: (line) => log('warn', line) });
      log('info', `engine started, process ${started.pid}`);
      for (const name of ['changed', 'build/output'] as const) started.client.on(name, (params) => this.events.emit(name, params));
      started.client.on('log', ({ level, message }) => log(level, message));
      void started.exited.then((exit) => this.died(started, exit));
      this.events.emit('started');
      return started;
    } catch (error) {
      this.current = undefined;
      throw error;
    }
  }

  private async died(process: RunnerProcess, exit: ExitInfo): Promise<void> {
    // One that was stopped or replaced on purpose is not the current one any more.
    if ((await this.current?.catch(() => undefined)) !== process) return;
    this.current = undefined;
    const again = this.diedAt !== undefined && Date.now() - this.diedAt < RESTART_WINDOW_MS;
    this.diedAt = Date.now();
    this.givenUp = again;
    this.options.log('error', `engine ended unexpectedly (${exit.signal ?? `exit code ${exit.code}`})`);
    this.options.onDied(exit, !again);
    if (!again) await this.get().catch((error: unknown) => this.options.log('error', String(error)));
  }
}
