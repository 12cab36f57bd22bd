/** What is computed from a run's episodes, as types: statistics of its rewards, groups of its failures, windows of its rows. */
import type { EpisodeRecord, EpisodeStatus } from './records.js';

/** Statistics of the rewards that exist; all `null` when there are none. */
export interface RewardStats {
  readonly scored: number;
  /** Finished episodes without a reward. */
  readonly unscored: number;
  readonly mean: number | null;
  /** Sample standard deviation (n - 1). */
  readonly std: number | null;
  /** Half width of the 95 % interval of the mean. */
  readonly ci95: number | null;
  readonly min: number | null;
  readonly median: number | null;
  readonly max: number | null;
}

/** Equal bins from `low` to `high`; the last one includes `high`. */
export interface Histogram {
  readonly low: number;
  readonly high: number;
  readonly counts: readonly number[];
}

/** Reward by finish order, at most about 1,000 points. */
export interface RewardSeries {
  /** Position in finish order, from 1. */
  readonly x: readonly number[];
  readonly reward: readonly (number | null)[];
  readonly runningMean: readonly (number | null)[];
}

export interface FailureGroup {
  readonly code: string;
  readonly status: EpisodeStatus;
  readonly count: number;
  /** Cause of the first one. */
  readonly example: string;
}

export type SortKey = 'finish' | 'episode' | 'seed' | 'sample' | 'status' | 'reward' | 'steps' | 'time' | 'cause';

export interface RowsQuery {
  /**
   * Terms separated by blanks, all of which must hold: `status:error`, `cause:timeout`, `seed:17`, `seed:1..5`, `reward<0.1`, `reward:none`, `time>2000` (ms) or
   * `time>2s`, or plain text to find in the cause; a leading `-` turns a term round.
   */
  readonly filter: string;
  readonly sort: SortKey;
  readonly descending: boolean;
  /** First row wanted and how many. */
  readonly start: number;
  readonly count: number;
}

export interface Rows {
  /** Rows that match, of which `rows` is a window. */
  readonly total: number;
  readonly start: number;
  readonly rows: readonly EpisodeRecord[];
  /** What in the filter could not be understood. */
  readonly filterError?: string;
}
