import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { RunSnapshot, RunViewNotifications, RunViewRequests, RunViewTarget } from '../../src/protocol/runView.js';
import type { RpcClient } from '../rpc.js';

export type RunViewClient = RpcClient<RunViewRequests, RunViewNotifications>;

/** Shortest time between two requests for the same while a run changes, ms: a few a second is all that can be read. */
const REFRESH_MS = 300;
/** Longest one, ms: what is slower no longer looks alive. */
const SLOWEST_REFRESH_MS = 2000;
/** What is on screen again after t ms is not asked for within this many times t: to be watched must not slow down a run on the same machine. */
const REST = 40;

interface Listener {
  /** There is another snapshot; `grown` is how many episodes finished since the last one. */
  onSnapshot(snapshot: RunSnapshot, grown: number): void;
  onShow(target: RunViewTarget): void;
}

/** The newest snapshot of the run, asked for again when the run has changed: not too often, one request at a time, never while hidden. */
export class RunModel implements ReactiveController {
  snapshot?: RunSnapshot;
  trusted = true;
  /** Why there is no newer snapshot. */
  problem?: string;
  /** When the snapshot came, by `performance.now()`. */
  receivedAt = 0;
  #stale = false;
  #busy = false;
  /** When to ask again at the earliest, by `performance.now()`. */
  #nextAt = 0;
  #timer?: ReturnType<typeof setTimeout>;
  readonly #host: ReactiveControllerHost;
  readonly #client: RunViewClient;
  readonly #listener: Listener;

  constructor(host: ReactiveControllerHost, client: RunViewClient, listener: Listener) {
    this.#host = host;
    this.#client = client;
    this.#listener = listener;
    host.addController(this);
  }

  hostConnected(): void {
    this.#client.on('changed', () => this.#invalidate());
    this.#client.on('show', (target) => this.#listener.onShow(target));
    document.addEventListener('visibilitychange', this.#onVisibility);
    void this.refresh();
  }

  hostDisconnected(): void {
    clearTimeout(this.#timer);
    document.removeEventListener('visibilitychange', this.#onVisibility);
  }

  readonly #onVisibility = () => {
    if (this.#stale) this.#invalidate();
  };

  #invalidate(): void {
    this.#stale = true;
    if (this.#busy || document.hidden) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), Math.max(0, this.#nextAt - performance.now()));
  }

  /** Asks for the snapshot now. */
  async refresh(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    this.#stale = false;
    const before = this.snapshot;
    const asked = performance.now();
    try {
      let target: RunViewTarget | undefined;
      if (before) this.snapshot = await this.#client.request('snapshot', undefined);
      else ({ snapshot: this.snapshot, trusted: this.trusted, show: target } = await this.#client.request('ready', undefined));
      this.problem = undefined;
      if (target) this.#listener.onShow(target);
      if (this.snapshot.revision !== before?.revision) this.#listener.onSnapshot(this.snapshot, Math.max(0, this.snapshot.finished - (before?.finished ?? 0)));
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.receivedAt = performance.now();
      this.#nextAt = this.receivedAt + REFRESH_MS;
      this.#host.requestUpdate();
      if (before) await painted();
      this.#busy = false;
      this.#nextAt = asked + Math.min(SLOWEST_REFRESH_MS, Math.max(REFRESH_MS, (performance.now() - asked) * REST));
      if (this.#stale) this.#invalidate();
    }
  }
}

/** Resolves when the next frame is on screen; in a page that nobody sees, at once. */
const painted = (): Promise<void> =>
  new Promise((resolve) => {
    if (document.hidden) resolve();
    else requestAnimationFrame(() => setTimeout(resolve));
  });
