import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { StepDetail, TimelineBin, TraceHead, TraceViewNotifications, TraceViewRequests, TraceViewTarget } from '../../src/protocol/traceView.js';
import type { RpcClient } from '../rpc.js';

export type TraceViewClient = RpcClient<TraceViewRequests, TraceViewNotifications>;

/** How often it is looked whether the trace grew: while it is being written, and else, ms. Never while the page is hidden. */
const LIVE_MS = 400;
const IDLE_MS = 5000;
/** A file of a gigabyte may have to be read once, ms. */
const OPEN_TIMEOUT_MS = 150_000;
/** Steps kept besides the one that is shown: those around it. */
const KEPT_STEPS = 12;

interface Listener {
  /** Another trace is open: where to begin, and whether that was asked for. */
  onOpened(start: number, target: TraceViewTarget | undefined, kept: string | undefined): void;
  /** Steps from `from` on may be others than before. */
  onGrown(from: number): void;
}

/** The open trace: its head, kept up to date while it can be seen, and the steps that were looked at last. */
export class TraceModel implements ReactiveController {
  head?: TraceHead;
  /** Why there is no head, or no newer one. */
  problem?: string;
  readonly #host: ReactiveControllerHost;
  readonly #client: TraceViewClient;
  readonly #listener: Listener;
  readonly #steps = new Map<number, Promise<StepDetail>>();
  #timer?: ReturnType<typeof setTimeout>;
  #opening = 0;
  #member?: number;
  /** The trace that was open cannot be read any more. */
  #lost = false;

  constructor(host: ReactiveControllerHost, client: TraceViewClient, listener: Listener) {
    this.#host = host;
    this.#client = client;
    this.#listener = listener;
    host.addController(this);
  }

  hostConnected(): void {
    document.addEventListener('visibilitychange', this.#onVisibility);
  }

  hostDisconnected(): void {
    clearTimeout(this.#timer);
    document.removeEventListener('visibilitychange', this.#onVisibility);
  }

  readonly #onVisibility = () => {
    if (!document.hidden) this.#schedule();
  };

  /** Opens the trace, or another one of the same file. */
  async open(member = this.#member): Promise<void> {
    this.#member = member;
    const opening = ++this.#opening;
    clearTimeout(this.#timer);
    this.#steps.clear();
    try {
      const { head, start, show, kept } = await this.#client.request('ready', { ...(member !== undefined && { member }) }, { timeoutMs: OPEN_TIMEOUT_MS });
      if (opening !== this.#opening) return;
      this.head = head;
      this.problem = undefined;
      this.#lost = false;
      this.#listener.onOpened(start, show, kept);
    } catch (error) {
      if (opening !== this.#opening) return;
      this.problem = message(error);
    }
    this.#host.requestUpdate();
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (document.hidden) return;
    // A trace that is not there yet may be one of an episode that has yet to begin.
    this.#timer = setTimeout(() => void (this.head && !this.#lost ? this.refresh() : this.open()), (this.head?.live || this.head?.indexed !== undefined) && !this.#lost ? LIVE_MS : IDLE_MS);
  }

  /** Takes in what was appended. */
  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    const opening = this.#opening;
    const before = this.head!;
    try {
      // What has yet to be gone through changes the head without a change of the file.
      const head = await this.#client.request('refresh', { always: before.indexed !== undefined });
      if (opening !== this.#opening) return;
      this.problem = undefined;
      if (head) {
        this.head = head;
        // What was last may have been pending; a shorter trace is another one.
        const from = head.steps < before.steps ? 0 : Math.max(0, before.steps - 2);
        for (const index of this.#steps.keys()) if (index >= from) this.#steps.delete(index);
        this.#listener.onGrown(from);
      }
    } catch (error) {
      if (opening !== this.#opening) return;
      this.problem = message(error);
      this.#lost = true;
    }
    this.#host.requestUpdate();
    this.#schedule();
  }

  /** All of a step; asked for once, if it is asked for again soon. */
  step(index: number): Promise<StepDetail> {
    const known = this.#steps.get(index) ?? this.#client.request('step', { step: index });
    this.#steps.delete(index);
    this.#steps.set(index, known);
    known.catch(() => this.#steps.get(index) === known && this.#steps.delete(index));
    for (const old of this.#steps.keys()) if (this.#steps.size > KEPT_STEPS) this.#steps.delete(old);
    return known;
  }

  timeline(bins: number): Promise<readonly TimelineBin[]> {
    return this.#client.request('timeline', { bins }, { timeoutMs: OPEN_TIMEOUT_MS });
  }
}

export function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
