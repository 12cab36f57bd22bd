import type { EpisodeRow, Rows, RowsQuery } from '../../../src/protocol/runView.js';

export type FetchRows = (query: RowsQuery, signal: AbortSignal) => Promise<Rows>;
export type Order = Pick<RowsQuery, 'filter' | 'sort' | 'descending'>;

/** Rows in one request for a place that the reader came to. */
export const PAGE = 100;
/** Pages kept: the reader's surroundings, whatever the size of the run. */
const KEPT = 40;
/** Most rows in one request for what is on screen. */
const WINDOW_LIMIT = 1000;
/** Rows that are asked for before they come into sight. */
const AHEAD = 30;
/** A place that is passed by faster than this is not asked for, ms. */
const SETTLE_MS = 50;

/** The rows of a run's table as far as they have been looked at, fetched by range. Rows on screen stay until their successors are there. */
export class RowSource {
  /** Rows that match the filter. */
  total = 0;
  /** False until the first answer. */
  loaded = false;
  /** What in the filter was not understood. */
  filterError?: string;
  /** Why the last request failed. */
  problem?: string;
  order: Order;
  readonly #fetch: FetchRows;
  readonly #onChange: () => void;
  readonly #pages = new Map<number, readonly EpisodeRow[]>();
  readonly #pending = new Map<number, AbortController>();
  readonly #disposal = new AbortController();
  #renewal?: AbortController;
  #wanted: readonly number[] = [];
  #timer?: ReturnType<typeof setTimeout>;

  /** `onChange` is called when there is something else to show. */
  constructor(fetch: FetchRows, order: Order, onChange: () => void) {
    this.#fetch = fetch;
    this.order = order;
    this.#onChange = onChange;
  }

  /** Whether rows are being asked for anew. */
  get renewing(): boolean {
    return this.#renewal !== undefined;
  }

  /** The row at a position, if it has been fetched. */
  row(index: number): EpisodeRow | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** Where an episode is, among the rows that have been fetched. */
  indexOf(episode: number): number | undefined {
    for (const [page, rows] of this.#pages) {
      const offset = rows.findIndex((row) => row.episode === episode);
      if (offset >= 0) return page * PAGE + offset;
    }
    return undefined;
  }

  /** Says which rows are on screen; those that are missing are fetched once the reader stays there. */
  want(first: number, last: number): void {
    this.#wanted = pagesOf(first - AHEAD, Math.min(last + AHEAD, this.total - 1));
    for (const [page, request] of this.#pending) if (!this.#wanted.includes(page)) request.abort();
    if (this.#renewal || this.#timer || this.#missing().length === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const page of this.#missing()) void this.#load(page);
    }, SETTLE_MS);
  }

  #missing(): number[] {
    return this.#wanted.filter((page) => (this.#pages.get(page)?.length ?? -1) < Math.min(PAGE, this.total - page * PAGE) && !this.#pending.has(page));
  }

  /**
   * `finished` episodes are there now. In the order of finish they come after those before them, which stay as they are: what is on screen is kept, and only what was not
   * there is asked for. False where they may come anywhere: then all has to be asked for anew.
   */
  grow(finished: number): boolean {
    const { filter, sort, descending } = this.order;
    if (filter.trim() !== '' || sort !== 'finish' || descending || this.#renewal || this.problem !== undefined || finished < this.total) return false;
    this.total = finished;
    this.#onChange();
    return true;
  }

  async #load(page: number): Promise<void> {
    const request = new AbortController();
    this.#pending.set(page, request);
    try {
      const rows = await this.#fetch({ ...this.order, start: page * PAGE, count: PAGE }, request.signal);
      this.#accept(rows);
      this.#pages.set(page, rows.rows);
      for (const old of this.#pages.keys()) if (this.#pages.size > KEPT && !this.#wanted.includes(old)) this.#pages.delete(old);
    } catch (error) {
      if (request.signal.aborted) return;
      this.problem = message(error);
    } finally {
      if (this.#pending.get(page) === request) this.#pending.delete(page);
    }
    this.#onChange();
  }

  /** The same table in another order, or of other rows. Resolves when its first rows are there. */
  reorder(order: Order, count: number): Promise<boolean> {
    this.order = order;
    return this.renew(0, count);
  }

  /** Asks anew for the rows from `first` to `last`, and forgets all others. False if it failed, or was overtaken by another such request. */
  async renew(first: number, last: number): Promise<boolean> {
    this.#renewal?.abort();
    for (const request of this.#pending.values()) request.abort();
    const renewal = (this.#renewal = new AbortController());
    const start = Math.max(0, Math.floor(first / PAGE)) * PAGE;
    const count = Math.min(WINDOW_LIMIT, (Math.floor(Math.max(first, last) / PAGE) + 1) * PAGE - start);
    try {
      const rows = await this.#fetch({ ...this.order, start, count }, renewal.signal);
      this.#accept(rows);
      this.#pages.clear();
      for (let offset = 0; offset < rows.rows.length; offset += PAGE) this.#pages.set((start + offset) / PAGE, rows.rows.slice(offset, offset + PAGE));
    } catch (error) {
      if (renewal.signal.aborted) return false;
      this.problem = message(error);
    } finally {
      if (this.#renewal === renewal) this.#renewal = undefined;
    }
    this.#onChange();
    return this.problem === undefined;
  }

  /** Asks where an episode is that must be among the rows from `first` to `last`. */
  async locate(episode: number, first: number, last: number): Promise<number | undefined> {
    try {
      const { start, rows } = await this.#fetch({ ...this.order, start: first, count: Math.min(WINDOW_LIMIT, last - first + 1) }, this.#disposal.signal);
      const offset = rows.findIndex((row) => row.episode === episode);
      return offset < 0 ? undefined : start + offset;
    } catch (error) {
      this.problem = message(error);
      return undefined;
    }
  }

  /** Episodes of the rows from `first` to `last`, fetched as far as they are not here. */
  async episodes(first: number, last: number): Promise<number[]> {
    const found: number[] = [];
    for (let at = first; at <= last; ) {
      const row = this.row(at);
      if (row) {
        found.push(row.episode);
        at++;
        continue;
      }
      try {
        const { rows } = await this.#fetch({ ...this.order, start: at, count: Math.min(WINDOW_LIMIT, last - at + 1) }, this.#disposal.signal);
        if (rows.length === 0) break;
        found.push(...rows.map(({ episode }) => episode));
        at += rows.length;
      } catch (error) {
        this.problem = message(error);
        this.#onChange();
        break;
      }
    }
    return found;
  }

  #accept(rows: Rows): void {
    this.total = rows.total;
    this.filterError = rows.filterError;
    this.problem = undefined;
    this.loaded = true;
  }

  /** Drops what is under way. */
  dispose(): void {
    this.#disposal.abort();
    clearTimeout(this.#timer);
    this.#renewal?.abort();
    for (const request of this.#pending.values()) request.abort();
  }
}

function pagesOf(first: number, last: number): number[] {
  const [from, to] = [Math.floor(Math.max(0, first) / PAGE), Math.floor(last / PAGE)];
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
