/** What a run came to so far: takes in one record at a time, and remembers of each only what the figures need. */
import type { EpisodeRecord, EpisodeStatus } from '../store/records.js';
import type { ComponentFigures, FailureGroup, Histogram, RewardSeries, RewardStats } from '../store/statistics.js';
import { histogram } from './histogram.js';
import { SortedNumbers } from './sortedNumbers.js';
import { describe, finite, series } from './stats.js';

const SERIES_POINTS = 1000;
/** Components that are told apart: their names are what a verifier wrote. */
const MOST_COMPONENTS = 32;

/** The part of a run's snapshot that follows from its records. */
export interface RunFigures {
  /** Number of records taken in. */
  readonly revision: number;
  readonly finished: number;
  readonly counts: Readonly<Record<EpisodeStatus, number>>;
  readonly stats: RewardStats;
  readonly histogram: Histogram | null;
  readonly series: RewardSeries;
  readonly time: { readonly restore: number; readonly act: number; readonly score: number; readonly terminate: number };
  /** Most frequent first. */
  readonly failures: readonly FailureGroup[];
  /** As they stand in the records, the first 32 of them. */
  readonly components: readonly ComponentFigures[];
}

export class RunAggregate {
  /** In finish order; NaN for an episode without a reward. Grows by doubling. */
  private rewards = new Float64Array(256);
  private readonly sorted = new SortedNumbers();
  private finished = 0;
  private unscored = 0;
  private readonly counts: Record<EpisodeStatus, number> = { completed: 0, truncated: 0, error: 0, cancelled: 0 };
  private readonly time = { restore: 0, act: 0, score: 0, terminate: 0 };
  private readonly failures = new Map<string, { -readonly [K in keyof FailureGroup]: FailureGroup[K] }>();
  private readonly components = new Map<string, { readonly weight: number; count: number; sum: number; weighted: number }>();
  private figures: RunFigures | undefined;

  /** Takes in a finished episode, in constant time. */
  add(record: EpisodeRecord): void {
    if (this.finished === this.rewards.length) {
      const grown = new Float64Array(this.rewards.length * 2);
      grown.set(this.rewards);
      this.rewards = grown;
    }
    this.rewards[this.finished] = record.reward ?? NaN;
    this.finished += 1;
    if (record.reward === null) this.unscored += 1;
    else {
      this.sorted.add(record.reward);
      for (const component of record.components) this.addComponent(component);
    }
    this.counts[record.status] += 1;
    for (const phase of ['restore', 'act', 'score', 'terminate'] as const) this.time[phase] += record.timings[phase];
    if (record.cause !== undefined) this.fail(record.cause, record.status);
    this.figures = undefined;
  }

  private addComponent({ name, weight, value }: EpisodeRecord['components'][number]): void {
    let sums = this.components.get(name);
    if (!sums) {
      if (this.components.size === MOST_COMPONENTS) return;
      this.components.set(name, (sums = { weight, count: 0, sum: 0, weighted: 0 }));
    }
    if (value === null) return;
    sums.count += 1;
    sums.sum += value;
    sums.weighted += weight * value;
  }

  /** Everything at once, in time linear in the records; computed once for each revision. */
  snapshot(): RunFigures {
    return (this.figures ??= this.compute());
  }

  private fail(cause: string, status: EpisodeStatus): void {
    const code = causeCode(cause);
    const key = `${status} ${code}`;
    const group = this.failures.get(key);
    if (group) group.count += 1;
    else this.failures.set(key, { code, status, count: 1, example: cause });
  }

  private compute(): RunFigures {
    const rewards = this.rewards.subarray(0, this.finished);
    const sorted = this.sorted.values();
    const scored = sorted.length;
    return {
      revision: this.finished,
      finished: this.finished,
      counts: { ...this.counts },
      stats: describe(sorted, this.unscored),
      histogram: histogram(sorted),
      series: series(rewards, SERIES_POINTS),
      time: { ...this.time },
      failures: [...this.failures.values()].map((group) => ({ ...group })).sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1)),
      components: [...this.components].map(([name, { weight, count, sum, weighted }]) => ({ name, weight, count, mean: count ? finite(sum / count) : null, contribution: scored ? finite(weighted / scored) : null })),
    };
  }
}

/** The code of a cause `<code>: <sentence>`: what failures are grouped by. */
export const causeCode = (cause: string): string => cause.split(':', 1)[0]!;
