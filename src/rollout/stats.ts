/** Statistics of rewards. All from the sorted rewards, so that the order in which episodes finish changes no digit. */
import type { RewardSeries, RewardStats } from '../store/statistics.js';

/** `sorted` ascending, all finite. A figure that overflows is null. */
export function describe(sorted: Float64Array, unscored: number): RewardStats {
  const n = sorted.length;
  const none = { mean: null, std: null, ci95: null, min: null, median: null, max: null };
  if (n === 0) return { scored: 0, unscored, ...none };
  const { mean, std } = moments(sorted);
  return {
    scored: n,
    unscored,
    mean: finite(mean),
    std: finite(std),
    ci95: finite(std === null ? null : (studentT975(n - 1) * std) / Math.sqrt(n)),
    min: sorted[0]!,
    median: quantile(sorted, 0.5),
    max: sorted[n - 1]!,
  };
}

/**
 * Mean and sample standard deviation (n - 1), the latter null of fewer than two values: Welford, "Note on a method for calculating corrected sums of
 * squares and products" (1962).
 */
export function moments(values: ArrayLike<number>): { readonly mean: number; readonly std: number | null } {
  let [mean, squares] = [0, 0];
  for (let index = 0; index < values.length; index++) {
    const delta = values[index]! - mean;
    mean += delta / (index + 1);
    squares += delta * (values[index]! - mean);
  }
  return { mean, std: values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : null };
}

export const finite = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null);

/** Quantile of ascending values, with a straight line between neighbours (type 7 of Hyndman and Fan, 1996). */
export function quantile(sorted: Float64Array, share: number): number {
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)]!;
  const above = sorted[Math.ceil(position)]!;
  const weight = position - Math.floor(position);
  return below * (1 - weight) + above * weight;
}

/** Exact values for few degrees of freedom, where the expansion below is not good enough: Abramowitz and Stegun, table 26.10. */
const FEW = [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852];

/** 97.5 % point of the normal distribution. */
const Z = 1.959963984540054;

/**
 * 97.5 % point of Student's t distribution: half the width of a 95 % interval in standard errors. From more than ten degrees of freedom by
 * the expansion in Abramowitz and Stegun 26.7.5, good to five digits and more.
 */
export function studentT975(freedom: number): number {
  if (freedom <= FEW.length) return FEW[freedom - 1]!;
  const z = Z;
  const terms = [
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92160,
  ];
  return terms.reduce((sum, term, index) => sum + term / freedom ** (index + 1), z);
}

/**
 * Rewards in finish order, NaN for none, as at most `points` points: of each stretch its lowest and its highest, so that no spike is lost,
 * and the last one of all. The running mean is of all rewards up to a point, those left out included.
 */
export function series(rewards: Float64Array, points: number): RewardSeries {
  const [x, reward, runningMean]: [number[], (number | null)[], (number | null)[]] = [[], [], []];
  const stretch = rewards.length <= points ? 1 : Math.ceil(rewards.length / Math.floor((points - 1) / 2));
  let [mean, scored] = [0, 0];
  for (let start = 0; start < rewards.length; start += stretch) {
    const end = Math.min(start + stretch, rewards.length);
    const kept = extremes(rewards, start, end);
    if (end === rewards.length && !kept.includes(end - 1)) kept.push(end - 1);
    for (let index = start; index < end; index++) {
      const value = rewards[index]!;
      if (!Number.isNaN(value)) mean += (value - mean) / ++scored;
      if (!kept.includes(index)) continue;
      x.push(index + 1);
      reward.push(Number.isNaN(value) ? null : value);
      runningMean.push(scored === 0 ? null : finite(mean));
    }
  }
  return { x, reward, runningMean };
}

/** Indices of the lowest and the highest reward, in order; the first index if there is no reward. */
function extremes(rewards: Float64Array, start: number, end: number): number[] {
  let [low, high] = [start, start];
  for (let index = start; index < end; index++) {
    const value = rewards[index]!;
    if (Number.isNaN(value)) continue;
    if (Number.isNaN(rewards[low]!) || value < rewards[low]!) low = index;
    if (Number.isNaN(rewards[high]!) || value > rewards[high]!) high = index;
  }
  return low === high ? [low] : [Math.min(low, high), Math.max(low, high)];
}
