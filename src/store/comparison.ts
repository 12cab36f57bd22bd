/** What is computed from two runs that are compared seed by seed, as types. `a` is the one that was named first; a difference is b - a. */
import type { RunRecord } from './records.js';
import type { RewardStats } from './statistics.js';

/** One run's part of a seed. */
export interface PairSide {
  /** Mean reward over the samples that have one; null if none has. */
  readonly mean: number | null;
  /** Finished samples with a reward, and without. */
  readonly scored: number;
  readonly unscored: number;
  /** The first episode of the seed that has a reward, else the first that finished: the one to look at. */
  readonly episode: number;
}

/** A seed that a run of the two has finished an episode of. */
export interface SeedPair {
  readonly seed: number;
  /** Null where the run has no finished episode of the seed. */
  readonly a: PairSide | null;
  readonly b: PairSide | null;
  /** b - a; null unless both have a reward. */
  readonly delta: number | null;
}

export type PairSortKey = 'seed' | 'a' | 'b' | 'delta';
export type PairKind = 'better' | 'same' | 'worse' | 'unpaired';

export interface PairsQuery {
  /** Which seeds; all if absent. */
  readonly kind?: PairKind;
  readonly sort: PairSortKey;
  readonly descending: boolean;
  readonly start: number;
  readonly count: number;
}

export interface Pairs {
  readonly total: number;
  readonly start: number;
  readonly pairs: readonly SeedPair[];
}

/** A paired sign-flip permutation test of "the mean difference is 0", two-sided. */
export interface SignFlipTest {
  readonly p: number;
  /** `exact`: every assignment of signs; `monte-carlo`: a sample of them, drawn from a generator with a fixed seed. */
  readonly method: 'exact' | 'monte-carlo';
  /** Assignments looked at. */
  readonly permutations: number;
}

/** How b differs from a over the seeds that have a reward in both: the statistics of their differences. */
export interface PairedFigures {
  readonly pairs: number;
  /** Mean difference, half width of its 95 % interval by Student's t, sample standard deviation (n - 1). */
  readonly mean: number | null;
  readonly ci95: number | null;
  readonly std: number | null;
  /** Null without a pair. */
  readonly test: SignFlipTest | null;
  readonly better: number;
  readonly same: number;
  readonly worse: number;
  /** Rewards of the paired seeds, each the mean over its samples. */
  readonly a: RewardStats;
  readonly b: RewardStats;
  /** The same as counts, in bins that both share; the last one includes `high`. Null without a pair. */
  readonly bins: { readonly low: number; readonly high: number; readonly a: readonly number[]; readonly b: readonly number[] } | null;
  /** The differences in ascending order, as at most about 1,000 stretches: of each its lowest and its highest. `first`: how many lie before it. */
  readonly deltas: readonly { readonly first: number; readonly low: number; readonly high: number }[];
  /** Seeds that are left out: that only one run has finished an episode of, and that both have, without a reward in one of them or both. */
  readonly left: { readonly onlyA: number; readonly onlyB: number; readonly unscored: number };
}

/** In what two runs were not asked the same, so that a difference of rewards may come from there. */
export interface RunDifference {
  readonly what: 'template' | 'digest' | 'snapshot' | 'episode' | 'reward' | 'policy' | 'provider' | 'samples' | 'timeout' | 'unfinished';
  readonly a: string;
  readonly b: string;
}

export interface RunComparison extends PairedFigures {
  readonly runs: { readonly a: RunRecord; readonly b: RunRecord };
  readonly differences: readonly RunDifference[];
}
