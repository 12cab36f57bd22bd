/** What all readers share: windows of steps, errors, timeline and search, over an index that is completed in the background. */
import type { Bytes, Span } from './bytes.js';
import type { SearchHit, StepDetail, StepSummary, TimelineBin, TraceHead, TraceReader } from './model.js';
import { searchBytes, findIn } from './search.js';
import { StepIndex } from './stepIndex.js';
import { blobOfPart, shorten } from './shorten.js';

/** Steps that lie behind one another in the same bytes: those from `first` up to the `first` of the next segment. */
export interface Segment {
  readonly first: number;
  readonly bytes: Bytes;
  readonly range: Span;
}

const RAW = 1 << 20;
/** How long a question about the whole trace waits for an index that is not complete, before it is answered from what is known. */
const PATIENCE_MS = 400;

export abstract class StepReader implements TraceReader {
  protected readonly index = new StepIndex();
  protected readonly problems: string[] = [];
  protected readonly closing = new AbortController();
  /** Resolves when the background has gone through all there is. */
  protected background: Promise<void> = Promise.resolve();
  private waiting: (() => void)[] = [];
  private searching = 0;
  /** The background that has ended. */
  private exhausted: Promise<void> | undefined;

  abstract head(): Promise<TraceHead>;
  abstract refresh(): Promise<boolean>;
  /** `full`: with the request of a model call, which may be all that was said before. */
  protected abstract load(index: number, full: boolean, signal?: AbortSignal): Promise<StepDetail>;
  /** Texts of a step lie elsewhere than the step does, so that its own bytes do not tell what it says. */
  protected get refersElsewhere(): boolean {
    return false;
  }

  /** What stands in the bytes of a step that names a blob. */
  protected get blobMark(): string | undefined {
    return undefined;
  }

  /** Texts of the blobs that the values of a step name. */
  protected blobTexts(_values: readonly unknown[]): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  /** What stands in the file for a step, parsed. */
  protected abstract values(index: number): Promise<readonly unknown[]>;
  protected abstract segments(): readonly Segment[];
  /** Whether every step has been found; errors and rewards may still be looked for. */
  protected abstract get complete(): boolean;
  protected abstract readBlob(ref: string): Promise<Uint8Array>;

  async summaries(from: number, to: number, signal?: AbortSignal): Promise<readonly StepSummary[]> {
    const result: StepSummary[] = [];
    const last = Math.min(to, this.index.length);
    for (let index = Math.max(0, from); index < last; index += 1) {
      signal?.throwIfAborted();
      result.push(summaryOf(await this.load(index, false, signal).catch((error: unknown) => unreadableStep(index, error))));
    }
    return result;
  }

  async step(index: number, signal?: AbortSignal): Promise<StepDetail> {
    this.check(index);
    return shorten(await this.load(index, true, signal).catch((error: unknown) => (signal?.throwIfAborted(), unreadableStep(index, error))), index);
  }

  async raw(index: number, maxBytes = RAW): Promise<{ text: string; bytes: number }> {
    this.check(index);
    const { start, end } = this.index.span(index);
    const data = await this.segmentOf(index).bytes.read(start, Math.min(end, start + maxBytes));
    return { text: data.toString('utf8'), bytes: end - start };
  }

  async blob(ref: string): Promise<Uint8Array> {
    return (await blobOfPart(ref, (index) => (this.check(index), this.load(index, true)))) ?? this.readBlob(ref);
  }

  async start(): Promise<number> {
    await this.patience(() => this.index.firstError() !== undefined);
    return this.index.firstError() ?? this.index.firstReward() ?? (this.index.known < this.index.length ? 0 : Math.max(0, this.index.length - 1));
  }

  async settled(signal?: AbortSignal): Promise<void> {
    while (!(this.complete && this.index.known >= this.index.length)) {
      signal?.throwIfAborted();
      if (!(await this.progress())) return;
    }
  }

  async nextError(from: number, direction: 1 | -1): Promise<number | undefined> {
    for (;;) {
      const found = this.index.nextError(from, direction);
      if (found !== undefined || (this.complete && this.index.known >= this.index.length)) return found;
      if (!(await this.progress())) return undefined;
    }
  }

  async timeline(bins: number): Promise<readonly TimelineBin[]> {
    await this.patience(() => false);
    return this.index.timeline(bins);
  }

  /** One hit at most for each step: its first. */
  async *search(text: string, signal?: AbortSignal): AsyncIterable<SearchHit> {
    if (!text) return;
    if (this.refersElsewhere) {
      yield* this.searchSteps(text, signal);
      return;
    }
    this.searching += 1;
    try {
      yield* this.searchSegments(text, signal ? AbortSignal.any([signal, this.closing.signal]) : this.closing.signal);
    } finally {
      this.searching -= 1;
    }
  }

  private async *searchSegments(text: string, all: AbortSignal): AsyncIterable<SearchHit> {
    for (const [at, segment] of this.segments().entries()) {
      const last = this.segments()[at + 1]?.first;
      let done = segment.first - 1;
      for await (const offset of searchBytes(segment.bytes, segment.range, text, this.blobMark, () => (done < segment.first ? 0 : this.index.span(done).end), all)) {
        const step = await this.stepAt(offset, segment.first, last);
        if (step === undefined || step <= done) continue;
        done = step;
        const values = await this.values(step).catch(() => []);
        const hit = findIn(values, text) ?? (this.blobMark === undefined ? undefined : findIn(await this.blobTexts(values), text));
        if (hit) yield { step, ...hit };
      }
    }
  }

  /** Step by step, in what is shown of each. */
  private async *searchSteps(text: string, signal?: AbortSignal): AsyncIterable<SearchHit> {
    for (let index = 0; index < this.index.length; index += 1) {
      signal?.throwIfAborted();
      this.closing.signal.throwIfAborted();
      const { index: _, ...shown } = await this.load(index, false, signal).catch((error: unknown) => unreadableStep(index, error));
      const hit = findIn([Object.values(shown)], text);
      if (hit) yield { step: index, ...hit };
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new Error('the trace was closed'));
    await this.background.catch(() => undefined);
    for (const bytes of new Set(this.segments().map((segment) => segment.bytes))) await bytes.close();
  }

  /** Tells who waits that there is more; `false` that nothing more will come. */
  protected moved(): void {
    for (const done of this.waiting.splice(0)) done();
  }

  protected segmentOf(index: number): Segment {
    const segments = this.segments();
    let [low, high] = [0, segments.length];
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (segments[middle]!.first <= index) low = middle;
      else high = middle;
    }
    return segments[low]!;
  }

  /** Lets others have the thread; while someone searches, most of it. */
  protected giveWay(): Promise<void> {
    return new Promise((done) => (this.searching ? setTimeout(done, 5) : setImmediate(done)));
  }

  /** Called with each step once, in the background. */
  protected learned(_step: StepDetail): void {}

  protected unreadable(_index: number, _error: unknown): void {}

  /** Loads every step once, for its error and reward. Gives way to other work meanwhile. */
  protected async learnAll(): Promise<void> {
    while (this.index.known < this.index.length && !this.closing.signal.aborted) {
      const index = this.index.known;
      try {
        const step = await this.load(index, false);
        this.learned(step);
        this.index.learn(index, step);
      } catch (error) {
        this.unreadable(index, error);
        this.index.learn(index, { kind: 'error', error: messageOf(error) });
      }
      if (index % 64 === 0) {
        this.moved();
        await this.giveWay();
      }
    }
  }

  private async stepAt(offset: number, first: number, last: number | undefined): Promise<number | undefined> {
    for (;;) {
      const step = this.index.at(offset, first, last);
      if (step !== undefined || this.complete) return step;
      if (!(await this.progress())) return undefined;
    }
  }

  /** Waits until a step has been gone through. */
  protected async knows(index: number): Promise<void> {
    while (this.index.known <= index && (await this.progress()));
  }

  /** Waits until the index has grown, or will not grow any more; `false` if that was known before. */
  private async progress(): Promise<boolean> {
    const { background } = this;
    if (this.closing.signal.aborted || this.exhausted === background) return false;
    const ended = (): void => void (this.exhausted = background);
    await Promise.race([new Promise<void>((done) => this.waiting.push(done)), background.then(ended, ended)]);
    return true;
  }

  private async patience(enough: () => boolean): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!enough() && !(this.complete && this.index.known >= this.index.length) && Date.now() < deadline) {
      let timer: NodeJS.Timeout | undefined;
      const more = await Promise.race([this.progress(), new Promise<boolean>((done) => (timer = setTimeout(done, deadline - Date.now(), false)))]);
      clearTimeout(timer);
      if (!more) return;
    }
  }

  private check(index: number): void {
    if (!Number.isSafeInteger(index) || index < 0 || index >= this.index.length) throw new RangeError(`there is no step ${index}: the trace has ${this.index.length}, from 0`);
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A step that is damaged is a row like any other, which says why. */
const unreadableStep = (index: number, error: unknown): StepDetail => ({ index, label: 'damaged', source: 'system', kind: 'error', title: `this step cannot be read: ${messageOf(error)}`, error: 'damaged' });

function summaryOf(step: StepDetail): StepSummary {
  const { index, step: number, label, source, kind, title, at, ms, reward, terminated, truncated, error, tokens, cost, image, pending, depth } = step;
  return Object.fromEntries(
    Object.entries({ index, step: number, label, source, kind, title, at, ms, reward, terminated, truncated, error, tokens, cost, image, pending, depth }).filter(([, value]) => value !== undefined),
  ) as unknown as StepSummary;
}
