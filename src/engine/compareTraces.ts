/** Two traces side by side: `trace/align.ts` over readers that are open for looking, and windows of what it found. */
import type { ComparedRow, DifferenceQuery, TraceComparison, TracePair } from '../protocol/traceDiff.js';
import type { AlignedRow, Alignment } from '../trace/align.js';
import type { StepSummary, TraceReader } from '../trace/model.js';
import type { Traces } from './traces.js';

/** How long is waited for a big file to be gone through, ms. */
const SETTLE_MS = 2000;

/** The last few alignments; each is a few numbers for each step that was compared. */
const KEPT = 4;

export const isDifferent = ({ a, b, differs }: AlignedRow): boolean => a === null || b === null || differs.length > 0;

const isOtherAction = ({ a, b, differs }: AlignedRow): boolean => a === null || b === null || differs.includes('action');

interface Compared {
  readonly key: string;
  readonly alignment: Alignment;
}

export class TraceComparisons {
  private readonly kept = new Map<string, Compared>();

  constructor(private readonly traces: Traces) {}

  /** Aligns them anew if one has grown. Rejects with what opening or reading a trace rejects with. */
  async compare(pair: TracePair, signal?: AbortSignal): Promise<TraceComparison> {
    for (const trace of [pair.a, pair.b]) await this.traces.refresh(trace, false);
    return this.use(pair, async (a, b) => {
      await settledSoon([a, b], signal);
      return comparisonOf({ a: await a.head(), b: await b.head() }, await this.aligned(pair, a, b, signal));
    });
  }

  /** Rows from `from` up to but not including `to`. */
  rows(pair: TracePair, from: number, to: number, signal?: AbortSignal): Promise<readonly ComparedRow[]> {
    return this.use(pair, async (a, b) => {
      const rows = (await this.aligned(pair, a, b, signal)).rows.slice(from, to);
      const [ofA, ofB] = [await summariesOf(a, rows.map((row) => row.a), signal), await summariesOf(b, rows.map((row) => row.b), signal)];
      return rows.map((row) => ({ ...row, summaries: { a: ofA.get(row.a) ?? null, b: ofB.get(row.b) ?? null } }));
    });
  }

  nextDifference(pair: TracePair, query: DifferenceQuery, signal?: AbortSignal): Promise<number | null> {
    return this.use(pair, async (a, b) => nextDifference((await this.aligned(pair, a, b, signal)).rows, query));
  }

  private use<T>({ a, b }: TracePair, work: (a: TraceReader, b: TraceReader) => Promise<T>): Promise<T> {
    return this.traces.use(a, (readerA) => this.traces.use(b, (readerB) => work(readerA, readerB)));
  }

  private async aligned(pair: TracePair, a: TraceReader, b: TraceReader, signal?: AbortSignal): Promise<Alignment> {
    const name = JSON.stringify([pair.a.file, pair.a.member, pair.b.file, pair.b.member]);
    const key = JSON.stringify([(await a.head()).steps, (await b.head()).steps]);
    let found = this.kept.get(name);
    if (found?.key !== key) {
      const { alignTraces } = await import('../trace/align.js');
      found = { key, alignment: await alignTraces(a, b, signal) };
    }
    this.kept.delete(name);
    this.kept.set(name, found);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value!);
    return found.alignment;
  }
}

/**
 * Waits until the files have been gone through for rewards and ends, but not long: nothing that is compared needs all of a big file. What is not known by then is
 * absent in the heads, which say so (`indexed`).
 */
export async function settledSoon(readers: readonly TraceReader[], signal?: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const soon = new Promise<void>((resolve) => (timer = setTimeout(resolve, SETTLE_MS)));
  try {
    await Promise.race([Promise.all(readers.map((reader) => reader.settled(signal))), soon]);
  } finally {
    clearTimeout(timer);
  }
}

export function comparisonOf(heads: TraceComparison['heads'], { rows, compared }: Alignment): TraceComparison {
  const place = (index: number): number | null => (index < 0 ? null : index);
  return { heads, rows: rows.length, different: rows.filter(isDifferent).length, first: place(rows.findIndex(isDifferent)), firstAction: place(rows.findIndex(isOtherAction)), compared };
}

/** A stretch of differences begins where the row before is the same. */
export function nextDifference(rows: readonly AlignedRow[], { from, direction, actions }: DifferenceQuery): number | null {
  const counts = actions ? isOtherAction : isDifferent;
  for (let at = from + direction; at >= 0 && at < rows.length; at += direction) if (counts(rows[at]!) && (at === 0 || !counts(rows[at - 1]!))) return at;
  return null;
}

async function summariesOf(reader: TraceReader, steps: readonly (number | null)[], signal?: AbortSignal): Promise<Map<number | null, StepSummary>> {
  const wanted = steps.filter((step) => step !== null);
  if (wanted.length === 0) return new Map();
  // Steps of a stretch of rows follow each other.
  return new Map((await reader.summaries(wanted[0]!, wanted.at(-1)! + 1, signal)).map((summary) => [summary.index, summary]));
}
