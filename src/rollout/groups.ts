/** Statistics of seeds that are sampled more than once: pass@k, and the groups whose advantages GRPO computes. Episodes without a reward are left out, never taken for 0. */
import type { GroupFigures, Groups, GroupsQuery, PassAtK, SeedFigures, SeedGroup, SeedSeries } from '../store/statistics.js';
import type { RewardMatrix } from './rewardMatrix.js';
import { finite, moments, studentT975 } from './stats.js';

/** From this reward on an episode counts as solved, if nobody says otherwise. */
const SOLVED = 1;

/** Added to a group's standard deviation, so that a group of nearly equal rewards does not blow up: the value in TRL's GRPOTrainer. */
const EPSILON = 1e-4;

/** A standard deviation up to this is 0 but for rounding: the tolerance of `torch.isclose`. */
const NO_SPREAD = 1e-8;

const SERIES_POINTS = 1000;

/** Cells of a row that are sent: more cannot be told apart on a screen. */
const MOST_CELLS = 256;

/**
 * Chance that at least one of `k` samples is solved, from `solved` among `n`: 1 - C(n - solved, k) / C(n, k), unbiased, as a product that does not
 * overflow (Chen et al., "Evaluating Large Language Models Trained on Code", 2021). NaN where k > n, which `n` samples cannot tell.
 */
export function passAtK(n: number, solved: number, k: number): number {
  if (k > n) return NaN;
  if (n - solved < k) return 1;
  let none = 1;
  for (let i = n - solved + 1; i <= n; i++) none *= 1 - k / i;
  return 1 - none;
}

/**
 * How far a reward lies from its group's mean, in standard deviations of the group: (r - mean) / (std + 1e-4), after Shao et al., "DeepSeekMath"
 * (2024), section 4.1. The deviation is the sample's (n - 1), as `torch.std` and so TRL's GRPOTrainer compute it. Null in a group of one, which has none.
 */
export function advantage(reward: number, { mean, std }: { readonly mean: number; readonly std: number | null }): number | null {
  return std === null ? null : finite((reward - mean) / (std + EPSILON));
}

/** Whether all rewards of a group are equal, so that every advantage is 0 and nothing is learned from it. */
const isFlat = (std: number | null): boolean => std !== null && std <= NO_SPREAD;

/** 1, 2, 4, ... and all of them. */
function sizes(samples: number): number[] {
  const result: number[] = [];
  for (let k = 1; k < samples; k *= 2) result.push(k);
  return [...result, samples];
}

/** Everything by seed, in time linear in the episodes. */
export const seedFigures = (matrix: RewardMatrix, threshold = SOLVED): SeedFigures => ({
  groups: matrix.samples > 1 ? groupFigures(matrix, threshold) : null,
  bySeed: seedSeries(matrix, SERIES_POINTS),
});

export function groupFigures(matrix: RewardMatrix, threshold: number): GroupFigures {
  const figures = { seeds: 0, complete: 0, unscored: 0, compared: 0, withoutSignal: 0 };
  const ks = sizes(matrix.samples);
  const estimates: number[][] = ks.map(() => []);
  for (let index = 0; index < matrix.rows; index++) {
    const { rewards, unscored } = matrix.row(index);
    figures.unscored += unscored;
    if (rewards.length === 0) continue;
    figures.seeds += 1;
    if (rewards.length === matrix.samples) figures.complete += 1;
    if (rewards.length > 1) {
      figures.compared += 1;
      if (isFlat(moments(rewards).std)) figures.withoutSignal += 1;
    }
    const solved = count(rewards, threshold);
    ks.forEach((k, at) => k <= rewards.length && estimates[at]!.push(passAtK(rewards.length, solved, k)));
  }
  return { samples: matrix.samples, threshold, ...figures, passAtK: ks.map((k, at) => overSeeds(k, estimates[at]!)) };
}

const count = (rewards: readonly number[], threshold: number): number => rewards.reduce((sum, reward) => sum + (reward >= threshold ? 1 : 0), 0);

/**
 * The mean over seeds and its 95 % interval, by Student's t over seeds, which are the independent units and not their samples (Miller, "Adding Error
 * Bars to Evals", 2024), cut at 0 and 1. None from fewer than two seeds, nor where all seeds agree: no spread was seen, which is not to say that there is none.
 */
function overSeeds(k: number, estimates: readonly number[]): PassAtK {
  if (estimates.length === 0) return { k, value: null, ci95: null, seeds: 0 };
  const { mean, std } = moments(estimates);
  const half = std === null || std <= NO_SPREAD ? null : (studentT975(estimates.length - 1) * std) / Math.sqrt(estimates.length);
  return { k, value: mean, ci95: half === null ? null : { low: Math.max(0, mean - half), high: Math.min(1, mean + half) }, seeds: estimates.length };
}

/** The advantage of one episode within its seed's group; null without a reward or without others that have one. */
export function advantageOf(matrix: RewardMatrix, episode: number): number | null {
  const row = Math.floor(episode / matrix.samples);
  const reward = matrix.reward(row, episode % matrix.samples);
  return reward === null || reward === undefined ? null : advantage(reward, moments(matrix.row(row).rewards));
}

/** A window of the seeds of which an episode has finished. Seeds without a value come last in either direction. */
export function queryGroups(matrix: RewardMatrix, query: GroupsQuery, threshold = SOLVED): Groups {
  const keyed: { row: number; key: number }[] = [];
  const turn = query.descending ? -1 : 1;
  for (let row = 0; row < matrix.rows; row++) {
    const seed = matrix.seed(row);
    if (seed === undefined) continue;
    const key = query.sort === 'seed' ? seed : sortKey(matrix.row(row).rewards, query.sort, threshold);
    keyed.push({ row, key: key === null ? Infinity : turn * key });
  }
  // Two infinities differ by NaN, which is as false as 0.
  keyed.sort((a, b) => a.key - b.key || a.row - b.row);
  return { total: keyed.length, start: query.start, groups: keyed.slice(query.start, query.start + query.count).map(({ row }) => seedGroup(matrix, row, threshold)) };
}

function sortKey(rewards: readonly number[], sort: 'mean' | 'std' | 'solved', threshold: number): number | null {
  if (rewards.length === 0) return null;
  if (sort === 'solved') return count(rewards, threshold) / rewards.length;
  return finite(moments(rewards)[sort]);
}

function seedGroup(matrix: RewardMatrix, row: number, threshold: number): SeedGroup {
  const { rewards } = matrix.row(row);
  const stats = rewards.length > 0 ? moments(rewards) : undefined;
  const cells = Array.from({ length: Math.min(matrix.samples, MOST_CELLS) }, (_, sample) => matrix.reward(row, sample));
  return {
    seed: matrix.seed(row)!,
    first: row * matrix.samples,
    scored: rewards.length,
    solved: count(rewards, threshold),
    mean: finite(stats?.mean ?? null),
    std: finite(stats?.std ?? null),
    flat: isFlat(stats?.std ?? null),
    rewards: cells.map((reward) => reward ?? null),
    advantages: cells.map((reward) => (stats && typeof reward === 'number' ? advantage(reward, stats) : null)),
    unfinished: cells.flatMap((reward, sample) => (reward === undefined ? [sample] : [])),
  };
}

/** Rewards by seed, in the order of the run, as at most `points` stretches of seeds: of each its lowest and highest reward and its mean. */
export function seedSeries(matrix: RewardMatrix, points: number): SeedSeries {
  const series: { seed: number[]; low: (number | null)[]; mean: (number | null)[]; high: (number | null)[] } = { seed: [], low: [], mean: [], high: [] };
  const stretch = Math.max(1, Math.ceil(matrix.rows / points));
  for (let start = 0; start < matrix.rows; start += stretch) {
    let seed: number | undefined;
    let [low, high, mean, scored] = [Infinity, -Infinity, 0, 0];
    for (let row = start; row < Math.min(start + stretch, matrix.rows); row++) {
      seed ??= matrix.seed(row);
      for (const reward of matrix.row(row).rewards) {
        low = Math.min(low, reward);
        high = Math.max(high, reward);
        mean += (reward - mean) / ++scored;
      }
    }
    if (seed === undefined) continue;
    series.seed.push(seed);
    series.low.push(scored > 0 ? low : null);
    series.mean.push(scored > 0 ? finite(mean) : null);
    series.high.push(scored > 0 ? high : null);
  }
  return { ...series, stretch };
}
