/** Serves the engine over JSON-RPC to any number of connections: what is asked, who is told, and what keeps the process. */
import type { Socket } from 'node:net';
import { isAbsolute } from 'node:path';
import { lasting, thisProcess } from '../engine/caller.js';
import type { Engine } from '../engine/engine.js';
import { Traces } from '../engine/traces.js';
import { LOOKS, STARTS, type EndingReason, type Hello, type RunnerNotifications, type RunnerRequests, type RunnerStatus, type RunPlace, type Welcome, type Work } from './api.js';
import { Coalescer } from './coalescer.js';
import { Engines } from './engines.js';
import { Ending, Retiring, UnknownMethod } from './errors.js';
import { allHandlers } from './handlers/index.js';
import type { Call, Handlers, Services } from './handlers/handlers.js';
import type { Journal } from './journal.js';
import type { RunnerLog } from './log.js';
import { Recovery } from './recovery.js';
import { RunWatcher } from './runWatcher.js';
import { Session } from './session.js';

const NOTIFY_INTERVAL_MS = 100;
export const IDLE_TIMEOUT_MS = 10 * 60_000;
/** `setTimeout` takes no more. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export interface ServerOptions {
  readonly token: string;
  readonly welcome: Welcome;
  readonly log: RunnerLog;
  readonly journal: Journal;
  /** Nothing needs the process any more, or somebody has asked for its end. Called once. */
  readonly onEnd: (reason: EndingReason) => void;
}

type Handler = (params: unknown, call: Call) => Promise<unknown>;

export class RunnerServer implements Services {
  readonly traces = new Traces();
  private readonly sessions = new Set<Session>();
  private readonly opened = new Set<Session>();
  private readonly coalescer = new Coalescer(NOTIFY_INTERVAL_MS);
  private readonly handlers: Handlers = allHandlers(this);
  private readonly engines: Engines;
  private readonly recovery: Recovery;
  private readonly watchers = new Map<string, RunWatcher>();
  /** Requests that start something and have not been answered. */
  private starting = 0;
  private idleTimeoutMs = IDLE_TIMEOUT_MS;
  private idleTimer: NodeJS.Timeout | undefined;
  private retiring = false;
  private ending: Promise<void> | undefined;

  constructor(private readonly options: ServerOptions) {
    this.engines = new Engines({
      log: (message) => this.log('info', message),
      onSandboxes: (root) => {
        this.changed(root, 'sandboxes');
        this.settle();
      },
      onExpiring: (root, { id, provider }, remainingMs) => this.notify('sandbox/expiring', { root, id, provider, remainingMs }),
    });
    this.recovery = new Recovery(options.journal, this.engines, (level, message) => this.log(level, message));
    this.settle();
  }

  /** Serves a connection until it closes. */
  accept(socket: Socket): void {
    const { token, welcome, log } = this.options;
    const session = new Session(socket, {
      token,
      welcome,
      log: (level, message) => log.write(level, message),
      answer: (...request) => this.answer(...request),
      onOpen: (opened, hello) => this.welcomed(opened, hello),
      onClose: (closed) => this.left(closed),
      onSecrets: (values) => log.hide(values),
    });
    this.sessions.add(session);
  }

  async engine(root: string, { session }: Call): Promise<Engine> {
    return this.engines.get(root, session.caller!);
  }

  changed(root: string, kind: RunnerNotifications['changed']['kind'], id?: string): void {
    this.coalescer.notify(`${root} ${kind} ${id ?? ''}`, () => this.notify('changed', { root, kind, id }));
    if (kind === 'runs') this.settle();
  }

  notify<K extends keyof RunnerNotifications>(method: K, params: RunnerNotifications[K] & { readonly root: string }): void {
    for (const session of this.opened) if (session.roots.has(params.root)) session.send(method, params);
  }

  /** What other processes do in a folder is followed while somebody can see it. */
  look(): void {
    const visible = new Set([...this.opened].flatMap(({ roots }) => [...roots].flatMap(([root, seen]) => (seen ? [root] : []))));
    for (const [root, watcher] of this.watchers) {
      if (visible.has(root)) continue;
      watcher.close();
      this.watchers.delete(root);
    }
    for (const root of visible) {
      if (this.watchers.has(root)) continue;
      const mine = (id: string) => this.engines.open.get(root)?.live.has(id) ?? false;
      this.watchers.set(root, new RunWatcher(root, { mine, changed: (kind, id) => this.changed(root, kind, id) }));
    }
  }

  takeInterrupted(roots: readonly string[]): Promise<readonly RunPlace[]> {
    return this.recovery.take(roots);
  }

  async status(): Promise<RunnerStatus> {
    const active = [...this.engines.open].flatMap(([root, { live }]) =>
      [...live.values()].map(({ record: { id, template, number, total }, sofar }) => ({ root, id, template, number, total, finished: sofar.finished })),
    );
    const interrupted = (await this.recovery.interrupted()).map(({ root, summary: { run, finished } }) => {
      const { id, template, number, total } = run;
      return { root, id, template, number, total, finished };
    });
    const { idleTimeoutMs, retiring } = this;
    return { ...this.options.welcome, ...this.work, connections: this.opened.size, idleTimeoutMs, retiring, active, interrupted };
  }

  retire(): Work {
    if (!this.retiring) this.log('info', 'a newer engine is to take the place of this one');
    this.retiring = true;
    // After the answer has gone out.
    setImmediate(() => this.settle());
    return this.work;
  }

  async shutdown(): Promise<void> {
    this.options.onEnd('stopped');
    await this.close();
  }

  /** Cancels every run and ends every sandbox; whatever is asked from then on is refused. */
  close(): Promise<void> {
    clearTimeout(this.idleTimer);
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
    return (this.ending ??= Promise.all([this.engines.close(), this.traces.closeAll()]).then(() => undefined));
  }

  /** Tells everybody why, and lets go of them. */
  disconnect(reason: EndingReason): void {
    for (const session of this.opened) session.send('ending', { reason });
    for (const session of this.sessions) session.end();
  }

  private get work(): Work {
    const { runs, kept } = this.engines.work;
    return { runs: runs + this.starting, kept };
  }

  private welcomed(session: Session, { idleTimeoutMs, version, client }: Hello): void {
    this.opened.add(session);
    if (typeof idleTimeoutMs === 'number' && idleTimeoutMs >= 0) this.idleTimeoutMs = Math.min(idleTimeoutMs, LONGEST_TIMEOUT_MS);
    this.options.log.write('info', `${client} ${version} connected, ${this.opened.size} in all`);
    this.settle();
  }

  private left(session: Session): void {
    this.sessions.delete(session);
    if (!this.opened.delete(session)) return;
    this.options.log.write('info', `a connection closed, ${this.opened.size} in all`);
    this.look();
    if (this.opened.size === 0) void this.traces.closeIdle();
    this.settle();
  }

  private async answer(session: Session, method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    if (this.ending) throw new Ending();
    const name = method as keyof Handlers;
    if (!Object.hasOwn(this.handlers, method)) throw new UnknownMethod(method);
    checkRoots(params);
    const starts = STARTS.has(name);
    if (starts && this.retiring) throw new Retiring(this.work);
    if (starts) this.starting += 1;
    try {
      if (starts) await this.note(params as RunnerRequests['build']['params'], session);
      return await (this.handlers[name] as Handler)(params, { session, signal });
    } catch (error) {
      if (!LOOKS.has(name)) this.options.log.write('warn', `${method}: ${(error as Error).message}`);
      throw error;
    } finally {
      if (starts) this.starting -= 1;
      this.settle();
    }
  }

  /** So that the next runner knows where to look if this one is killed. */
  private async note({ root }: { readonly root: string }, session: Session): Promise<void> {
    const environment = lasting((session.caller ?? thisProcess).environment);
    await this.options.journal.add({ root, environment }).catch((error: Error) => this.log('warn', `the journal cannot be written: ${error.message}`));
  }

  private log(level: 'info' | 'warn', message: string): void {
    this.options.log.write(level, message);
    for (const session of this.opened) session.send('log', { level, message: this.options.log.clean(message) });
  }

  /** Something may have ended that kept the process. Nothing is looked at again until something else does. */
  private settle(): void {
    clearTimeout(this.idleTimer);
    if (this.ending) return;
    const { runs, kept } = this.work;
    if (runs > 0 || kept > 0) return;
    if (this.retiring) this.options.onEnd('retired');
    else if (this.opened.size === 0) this.idleTimer = setTimeout(() => this.options.onEnd('idle'), this.idleTimeoutMs);
  }
}

/** Folders become paths: whatever else stands in their place is refused before it is used for anything. */
function checkRoots(params: unknown): void {
  const { root, roots } = (params ?? {}) as { root?: unknown; roots?: unknown };
  const all = [...(root === undefined ? [] : [root]), ...(Array.isArray(roots) ? roots.map((each: { root?: unknown } | null) => each?.root) : [])];
  for (const each of all) if (typeof each !== 'string' || !isAbsolute(each)) throw new Error('the folder must be an absolute path');
}
