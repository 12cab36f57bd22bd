import type { StepSummary } from '../../src/protocol/traceView.js';

/** Steps in one request. */
const PAGE = 200;
/** Pages kept: the reader's surroundings, whatever the length of the trace. */
const KEPT = 30;
/** A place that is passed by faster than this is not asked for, ms. */
const SETTLE_MS = 40;

type Fetch = (from: number, to: number, signal: AbortSignal) => Promise<readonly StepSummary[]>;

/** The rows of the list of steps as far as they have been looked at. Rows on screen stay until their successors are there. */
export class StepSource {
  total = 0;
  /** Why the last request failed. */
  problem?: string;
  readonly #fetch: Fetch;
  readonly #onChange: () => void;
  readonly #pages = new Map<number, readonly StepSummary[]>();
  readonly #pending = new Map<number, AbortController>();
  /** Pages that are shown, but were read before the trace grew. */
  readonly #stale = new Set<number>();
  #wanted: readonly number[] = [];
  #timer?: ReturnType<typeof setTimeout>;

  /** `onChange` is called when there is something else to show. */
  constructor(fetch: Fetch, onChange: () => void) {
    this.#fetch = fetch;
    this.#onChange = onChange;
  }

  step(index: number): StepSummary | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** Says which steps are on screen; those that are missing are fetched, at once for the first and else when the reader stays there. */
  want(first: number, last: number): void {
    const pages: number[] = [];
    for (let page = Math.floor(Math.max(0, first) / PAGE); page <= Math.floor(Math.min(last, this.total - 1) / PAGE); page++) pages.push(page);
    this.#wanted = pages;
    for (const [page, request] of this.#pending) if (!pages.includes(page)) request.abort();
    if (this.#timer || this.#missing().length === 0) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        for (const page of this.#missing()) void this.#load(page);
      },
      this.#pages.size === 0 ? 0 : SETTLE_MS,
    );
  }

  /** The trace has `total` steps now; those from `from` on may have changed. */
  grow(total: number, from: number): void {
    this.total = total;
    for (const page of this.#pages.keys()) if ((page + 1) * PAGE > from) this.#stale.add(page);
    for (const [page, request] of this.#pending) {
      if ((page + 1) * PAGE <= from) continue;
      request.abort();
      this.#pending.delete(page);
    }
    this.want(this.#wanted[0] === undefined ? 0 : this.#wanted[0] * PAGE, this.#wanted.length === 0 ? 0 : (this.#wanted.at(-1)! + 1) * PAGE);
  }

  /** Another trace. */
  reset(): void {
    this.dispose();
    this.#pages.clear();
    this.#stale.clear();
    this.#wanted = [];
    this.total = 0;
  }

  #missing(): number[] {
    return this.#wanted.filter((page) => (!this.#pages.has(page) || this.#stale.has(page)) && !this.#pending.has(page));
  }

  async #load(page: number): Promise<void> {
    const request = new AbortController();
    this.#pending.set(page, request);
    this.#stale.delete(page);
    try {
      const steps = await this.#fetch(page * PAGE, Math.min(this.total, (page + 1) * PAGE), request.signal);
      this.#pages.set(page, steps);
      this.problem = undefined;
      for (const old of this.#pages.keys()) if (this.#pages.size > KEPT && !this.#wanted.includes(old)) this.#pages.delete(old);
    } catch (error) {
      if (request.signal.aborted) return;
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      if (this.#pending.get(page) === request) this.#pending.delete(page);
    }
    this.#onChange();
  }

  /** Drops what is under way. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const request of this.#pending.values()) request.abort();
    this.#pending.clear();
  }
}
