import type { ReactiveControllerHost } from 'lit';

/** Rows in one request: what is in sight, several times over. */
const COUNT = 200;
const AHEAD = 60;

export interface Range<T> {
  readonly total: number;
  readonly start: number;
  readonly rows: readonly T[];
}

/** The stretch of a long list that the reader is at, fetched one request at a time. What is on screen stays until its successor is there. */
export class RangeWindow<T> {
  range: Range<T> = { total: 0, start: 0, rows: [] };
  /** Why the last request failed. */
  problem?: string;
  #loaded = false;
  #busy = false;
  #wanted: readonly [number, number] = [0, 0];
  /** Increases when the list is another one: an answer from before is asked for again. */
  #revision = 0;
  #asked = '';
  readonly #host: Pick<ReactiveControllerHost, 'requestUpdate'>;
  readonly #fetch: (start: number, count: number) => Promise<Range<T>>;

  constructor(host: Pick<ReactiveControllerHost, 'requestUpdate'>, fetch: (start: number, count: number) => Promise<Range<T>>) {
    this.#host = host;
    this.#fetch = fetch;
  }

  /** False until the first answer. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** Whether rows are on their way. */
  get busy(): boolean {
    return this.#busy;
  }

  at(index: number): T | undefined {
    return this.range.rows[index - this.range.start];
  }

  /** The list is another one, or in another order. */
  invalidate(): void {
    this.#revision++;
    this.want(...this.#wanted);
  }

  /** Says which rows are in sight. */
  want(first: number, last: number): void {
    this.#wanted = [first, last];
    if (this.#busy) return;
    const { start, rows, total } = this.range;
    const covered = first >= start && Math.min(total, last + 1) <= start + rows.length && rows.length > 0;
    const from = covered ? start : Math.max(0, first - AHEAD);
    const asked = `${this.#revision} ${from}`;
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.#busy = true;
    this.#fetch(from, COUNT)
      .then(
        (range) => {
          this.range = range;
          this.#loaded = true;
          this.problem = undefined;
        },
        (error: unknown) => (this.problem = error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        this.#busy = false;
        this.#host.requestUpdate();
        this.want(...this.#wanted);
      });
  }
}
