/**
 * The engine as the extension sees it: the user's runner, connected to on first use, started if there is none, connected to again once if it
 * dies. It outlives the window. Knows nothing of VS Code.
 */
import * as l10n from '@vscode/l10n';
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { LOOKS, type CallerRequests, type RunnerNotifications, type RunnerRequests, type RunPlace, type Work } from '../runner/api.js';
import { RunnerError, type RequestOptions } from '../runner/client.js';
import { connectRunner, relevant, type ConnectOptions, type RunnerConnection } from '../runner/connect.js';
import { identityOf } from '../runner/identity.js';
import { lockHolder } from '../store/lock.js';
import { findPlace } from '../runner/place.js';
import { within } from '../sandbox/deadline.js';

export interface RunnerOptions {
  readonly execPath: string;
  readonly script: string;
  readonly startTimeoutMs?: number;
  /** How long the runner is to stay when nothing needs it. */
  readonly idleTimeoutMs: () => number | undefined;
  /** Variables of the accounts that are signed in to, in place of those of the environment. */
  readonly accounts: () => Promise<NodeJS.ProcessEnv>;
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void;
  /** Whether more than looking is allowed: in a workspace that is not trusted nothing is run, made or removed. */
  readonly mayAct: () => boolean;
  /** Answers for a model that VS Code offers. */
  readonly chat: (request: CallerRequests['chat']['params'], signal: AbortSignal) => Promise<CallerRequests['chat']['result']>;
  /** The engine died. `restarting` is false the second time: then only `restart` starts it again. */
  readonly onDied: (restarting: boolean) => void;
  /** An older engine has work to finish before this version's own takes its place. */
  readonly onOlder: (work: Work) => void;
  /** Runs that a dead engine left, which can be resumed. */
  readonly onInterrupted: (runs: readonly RunPlace[]) => void;
}

/** A second death within this time is not followed by another start: it would only die again. */
const RESTART_WINDOW_MS = 5 * 60_000;

const SECOND = 1000;
/** How long an engine that takes the place of a retired one has to come up. */
const SUCCESSOR_MS = 3 * SECOND;

/** Milliseconds until an answer is given up. A build has no bound here: each of its steps has one in the engine, and a person can cancel it. */
const DEADLINES: Record<Exclude<keyof RunnerRequests, 'hello'>, number | undefined> = {
  'look': 30 * SECOND,
  'runner/status': 30 * SECOND,
  'runner/retire': 10 * SECOND,
  'account/use': 30 * SECOND,
  'account/check': 30 * SECOND,
  'doctor': 60 * SECOND,
  'template/status': 60 * SECOND,
  'build': undefined,
  'run/start': 60 * SECOND,
  'run/estimate': 60 * SECOND,
  'run/estimateAgain': 60 * SECOND,
  'run/estimateFork': 60 * SECOND,
  'run/resume': 60 * SECOND,
  'run/rerun': 60 * SECOND,
  'run/replay': 60 * SECOND,
  'run/fork': 60 * SECOND,
  'episode/act': undefined,
  'run/cancel': 180 * SECOND,
  'run/delete': 60 * SECOND,
  'run/list': 30 * SECOND,
  'run/snapshot': 30 * SECOND,
  'run/rows': 30 * SECOND,
  'run/groups': 30 * SECOND,
  'run/episode': 30 * SECOND,
  'run/export': 600 * SECOND,
  'run/compare': 120 * SECOND,
  'run/pairs': 60 * SECOND,
  'sandbox/open': undefined,
  'sandbox/openAt': undefined,
  'sandbox/list': 60 * SECOND,
  'sandbox/terminate': 60 * SECOND,
  'sandbox/terminateAll': 180 * SECOND,
  'sandbox/terminateOrphans': 180 * SECOND,
  'sandbox/extend': 30 * SECOND,
  'sandbox/suspend': 1000 * SECOND,
  'sandbox/resume': 1000 * SECOND,
  'sandbox/fork': 1800 * SECOND,
  'sandbox/snapshot': 1800 * SECOND,
  'sandbox/exec': undefined,
  'sandbox/stats': 30 * SECOND,
  'sandbox/changes': 150 * SECOND,
  'sandbox/ports': 30 * SECOND,
  'sandbox/forward': 30 * SECOND,
  'sandbox/unforward': 30 * SECOND,
  'sandbox/services': 30 * SECOND,
  'sandbox/logs': 30 * SECOND,
  'terminal/open': 60 * SECOND,
  'terminal/input': undefined,
  'terminal/resize': 30 * SECOND,
  'terminal/close': 30 * SECOND,
  'stream/ack': 30 * SECOND,
  'files/list': 60 * SECOND,
  'files/stat': 60 * SECOND,
  'files/mkdir': 60 * SECOND,
  'files/rename': 60 * SECOND,
  'files/remove': 60 * SECOND,
  'files/open': 120 * SECOND,
  'files/read': 120 * SECOND,
  'files/create': 120 * SECOND,
  'files/append': 600 * SECOND,
  'files/finish': 600 * SECOND,
  'files/close': 30 * SECOND,
  'files/download': undefined,
  'files/upload': undefined,
  'snapshot/list': 60 * SECOND,
  'snapshot/rename': 60 * SECOND,
  'snapshot/note': 60 * SECOND,
  'snapshot/pin': 60 * SECOND,
  'snapshot/delete': 120 * SECOND,
  'snapshot/export': undefined,
  'snapshot/import': undefined,
  'snapshot/prune': 600 * SECOND,
  'snapshot/changes': 240 * SECOND,
  'snapshot/lineage': 60 * SECOND,
  'trace/open': 120 * SECOND,
  'trace/compare': 180 * SECOND,
  'trace/comparedRows': 60 * SECOND,
  'trace/nextDifference': 60 * SECOND,
  'trace/refresh': 60 * SECOND,
  'trace/summaries': 60 * SECOND,
  'trace/step': 60 * SECOND,
  'trace/raw': 60 * SECOND,
  'trace/blob': 60 * SECOND,
  'trace/text': 60 * SECOND,
  'trace/solution': 60 * SECOND,
  'trace/timeline': 120 * SECOND,
  'trace/nextError': 60 * SECOND,
  'trace/search': 600 * SECOND,
  'trace/close': 10 * SECOND,
  'shutdown': 60 * SECOND,
};

type Requests = Omit<RunnerRequests, 'hello'>;
type Looked = RunnerRequests['look']['params']['roots'];

export class Runner {
  private readonly events = new EventEmitter().setMaxListeners(0);
  private current: Promise<RunnerConnection> | undefined;
  private looked: Looked = [];
  private toldOlder: number | undefined;
  private diedAt: number | undefined;
  private givenUp = false;
  private disposed = false;

  constructor(private readonly options: RunnerOptions) {}

  /**
   * Starts the engine if it is not there. Rejects with `RunnerError` (code `Untrusted` for what may not be done), with `UnsafeFolder`, or with the
   * signal's reason.
   */
  async request<K extends keyof Requests>(method: K, params: Requests[K]['params'], { signal }: RequestOptions = {}): Promise<Requests[K]['result']> {
    if (!LOOKS.has(method) && !this.options.mayAct()) throw new RunnerError(l10n.t('this workspace is not trusted, so nothing in it is run'), { code: 'Untrusted' });
    const ms = DEADLINES[method];
    const deadline = ms === undefined ? undefined : AbortSignal.timeout(ms);
    const signals = [signal, deadline].filter((one) => one !== undefined);
    const options = signals.length ? { signal: AbortSignal.any(signals) } : {};
    try {
      const connection = await this.get();
      try {
        return await connection.client.request(method, params, options);
      } catch (error) {
        // One that was about to end when it was asked has done nothing; the next one is asked instead.
        if (!(error instanceof RunnerError) || error.code !== 'Ending') throw error;
        await connection.closed;
        return await (await this.get()).client.request(method, params, options);
      }
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

  /** The connection is gone, and with it all that was opened over it. */
  onEnded(listener: () => void): { dispose(): void } {
    this.events.on('ended', listener);
    return { dispose: () => this.events.off('ended', listener) };
  }

  /** Process id of the engine, if there is a connection to one. */
  async pid(): Promise<number | undefined> {
    return (await this.current?.catch(() => undefined))?.welcome.pid;
  }

  /** Which folders the window shows. It hears of no others. */
  look(roots: Looked): void {
    this.looked = roots;
    void this.current?.then(
      (connection) => this.tellLooked(connection),
      () => undefined,
    );
  }

  /** Other accounts count from the next request on. */
  async useAccounts(): Promise<void> {
    const connection = await this.current?.catch(() => undefined);
    if (!connection) return;
    const environment = relevant({ ...process.env, ...(await this.options.accounts()) });
    await connection.client.request('account/use', { environment }, { signal: AbortSignal.timeout(DEADLINES['account/use']!) });
  }

  /** Connects if an engine runs, and starts none. */
  async attach(): Promise<boolean> {
    if (this.current || this.disposed) return true;
    const probe = await connectRunner({ ...(await this.connectOptions()), start: undefined });
    if (!probe) return false;
    probe.close();
    await this.get();
    return true;
  }

  /** Ends the engine, whoever uses it, and starts it again. One that does not answer is killed. */
  async restart(): Promise<void> {
    this.givenUp = false;
    this.diedAt = undefined;
    const old = this.current?.catch(() => undefined);
    // Whoever asks meanwhile waits for the next one, and does not find the one that is ending.
    await this.adopt(this.end(old).then(() => this.open()));
  }

  private async end(old: Promise<RunnerConnection | undefined> | undefined): Promise<void> {
    try {
      await within('Ending the engine', undefined, DEADLINES.shutdown!, async (signal) => {
        const connection = (await old) ?? (await connectRunner({ ...(await this.connectOptions()), start: undefined }));
        await connection?.client.request('shutdown', {}, { signal });
        await connection?.closed;
      });
    } catch (error) {
      this.options.log('warn', `ending the engine: ${String(error)}`);
      const pid = await lockHolder((await findPlace()).folder);
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    }
  }

  /** Lets go of the engine, which goes on. */
  dispose(): void {
    this.disposed = true;
    void this.current?.then((connection) => connection.close(), () => undefined);
    this.current = undefined;
  }

  private get(): Promise<RunnerConnection> {
    if (this.disposed) return Promise.reject(new RunnerError(l10n.t('the window is closing'), { code: 'ConnectionClosed' }));
    if (this.givenUp) return Promise.reject(new RunnerError(l10n.t('the engine stopped twice in a row and was not started again'), { code: 'GivenUp' }));
    return this.current ?? this.adopt(this.open());
  }

  private adopt(opening: Promise<RunnerConnection>): Promise<RunnerConnection> {
    opening.catch(() => this.current === opening && (this.current = undefined));
    this.current = opening;
    return opening;
  }

  private async connectOptions(): Promise<ConnectOptions> {
    const { execPath, script, startTimeoutMs, idleTimeoutMs } = this.options;
    const identity = await identityOf(script).catch((cause: Error) => {
      throw new RunnerError(cause.message, { code: 'StartFailed' }, { cause });
    });
    return { place: await findPlace(), identity, client: 'vscode', start: { execPath, script }, timeoutMs: startTimeoutMs, idleTimeoutMs: idleTimeoutMs(), accounts: await this.options.accounts() };
  }

  private async open(): Promise<RunnerConnection> {
    const { log } = this.options;
    const connection = (await connectRunner(await this.connectOptions()))!;
    const { client, welcome, older } = connection;
    if (this.disposed) connection.close();
    log('info', `connected to engine ${welcome.version}, process ${welcome.pid}`);
    for (const name of ['changed', 'build/output', 'trace/hits', 'stream/data', 'terminal/exit', 'sandbox/expiring', 'sandbox/step'] as const) client.on(name, (params) => this.events.emit(name, params));
    client.answer('chat', (request, signal) => this.options.chat(request, signal));
    client.on('log', ({ level, message }) => log(level, message));
    void connection.closed.then((reason) => {
      this.events.emit('ended');
      return this.ended(connection, reason);
    });
    if (older && this.toldOlder !== welcome.pid) {
      this.toldOlder = welcome.pid;
      this.options.onOlder(older);
    }
    this.tellLooked(connection);
    // Whoever hears of it asks, and is to find this connection.
    setImmediate(() => this.events.emit('started'));
    return connection;
  }

  private tellLooked({ client }: RunnerConnection): void {
    if (this.looked.length === 0) return;
    client.request('look', { roots: this.looked }, { signal: AbortSignal.timeout(DEADLINES.look!) }).then(
      ({ interrupted }) => interrupted.length > 0 && this.options.onInterrupted(interrupted),
      (error: unknown) => this.options.log('warn', `look: ${String(error)}`),
    );
  }

  private async ended(connection: RunnerConnection, reason: 'idle' | 'retired' | 'stopped' | undefined): Promise<void> {
    // One that was ended or replaced on purpose by this window is not the current one any more.
    if ((await this.current?.catch(() => undefined)) !== connection || this.disposed) return;
    this.current = undefined;
    const { log } = this.options;
    if (reason) {
      log('info', `the engine has ended: ${reason}`);
      // Where this window's own engine is the older one, the other window starts its first.
      if (reason === 'retired') this.reconnect(connection.older ? 0 : SUCCESSOR_MS);
      return;
    }
    const again = this.diedAt !== undefined && Date.now() - this.diedAt < RESTART_WINDOW_MS;
    this.diedAt = Date.now();
    this.givenUp = again;
    log('error', `the engine (process ${connection.welcome.pid}) ended unexpectedly`);
    this.options.onDied(!again);
    if (!again) this.reconnect();
  }

  private reconnect(afterMs = 0): void {
    const opening = delay(afterMs).then(() => this.open());
    opening.catch(() => this.current === opening && (this.current = undefined));
    this.current = opening;
    opening.catch((error: unknown) => this.options.log('error', String(error)));
  }
}
