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

/** One part of the reward, over all episodes that have a reward. */
export interface ComponentFigures {
  readonly name: string;
  readonly weight: number;
  /** Episodes that have a reward and this component. */
  readonly count: number;
  /** Of its value, over those episodes. */
  readonly mean: number | null;
  /** What it adds to the mean reward: the sum of weight x value over all scored episodes, divided by their number. */
  readonly contribution: number | null;
}

/** Unbiased pass@k, averaged over seeds. */
export interface PassAtK {
  readonly k: number;
  /** Null where no seed has k rewards. */
  readonly value: number | null;
  /** 95 % interval by Student's t over seeds; null from fewer than two, or where all seeds agree. */
  readonly ci95: { readonly low: number; readonly high: number } | null;
  /** Seeds that have k rewards or more; the others are left out. */
  readonly seeds: number;
}

/** What comes of several samples for each seed. Episodes without a reward are left out of all of it. */
export interface GroupFigures {
  readonly samples: number;
  /** An episode with at least this reward is solved. */
  readonly threshold: number;
  /** Seeds with a reward. */
  readonly seeds: number;
  /** Seeds all of whose samples have a reward. */
  readonly complete: number;
  /** Finished episodes without a reward. */
  readonly unscored: number;
  /** Groups of two rewards or more, which alone have advantages. */
  readonly compared: number;
  /** Groups among those whose rewards are all equal: every advantage is 0. */
  readonly withoutSignal: number;
  /** For k = 1, 2, 4, ... and the number of samples. */
  readonly passAtK: readonly PassAtK[];
}

/** The samples of one seed. */
export interface SeedGroup {
  readonly seed: number;
  /** Episode of its sample 0; the others follow. */
  readonly first: number;
  readonly scored: number;
  readonly solved: number;
  readonly mean: number | null;
  /** Sample standard deviation (n - 1). */
  readonly std: number | null;
  /** Whether two rewards or more are there and all are equal. */
  readonly flat: boolean;
  /** By sample, the first 256 of them. */
  readonly rewards: readonly (number | null)[];
  /** By sample: (reward - mean) / (std + 1e-4). */
  readonly advantages: readonly (number | null)[];
  /** Samples among these that have not finished. */
  readonly unfinished: readonly number[];
}

export type GroupSortKey = 'seed' | 'mean' | 'std' | 'solved';

export interface GroupsQuery {
  readonly sort: GroupSortKey;
  readonly descending: boolean;
  readonly start: number;
  readonly count: number;
}

export interface Groups {
  readonly total: number;
  readonly start: number;
  readonly groups: readonly SeedGroup[];
}

/** Rewards by seed, in the order of the run, at most about 1,000 points. */
export interface SeedSeries {
  /** First seed of each stretch. */
  readonly seed: readonly number[];
  readonly low: readonly (number | null)[];
  readonly mean: readonly (number | null)[];
  readonly high: readonly (number | null)[];
  /** Seeds in a stretch. */
  readonly stretch: number;
}

/** The part of a run's snapshot that is about its seeds. */
export interface SeedFigures {
  /** Null where each seed has one sample. */
  readonly groups: GroupFigures | null;
  readonly bySeed: SeedSeries;
}

/** A row of the table of episodes. */
export interface EpisodeRow extends EpisodeRecord {
  /** Within the group of its seed, where a seed has several samples. */
  readonly advantage?: number | null;
}

export type SortKey = 'finish' | 'episode' | 'seed' | 'sample' | 'status' | 'reward' | 'advantage' | 'steps' | 'time' | 'cause';

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
  readonly rows: readonly EpisodeRow[];
  /** What in the filter could not be understood. */
  readonly filterError?: string;
}
