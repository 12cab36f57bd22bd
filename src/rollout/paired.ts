/**
 * Two runs over the same seeds, compared seed by seed: what a seed asks for is the same in both, so its difficulty cancels out (Miller, "Adding Error Bars
 * to Evals", 2024, section 4). The unit is the seed: its reward is the mean over its samples. What has no reward is left out and counted, never taken for 0.
 */
import type { PairedFigures, Pairs, PairsQuery, PairSide, SeedPair } from '../store/comparison.js';
import { countInto, histogram } from './histogram.js';
import type { RewardMatrix } from './rewardMatrix.js';
import { signFlipTest } from './signFlip.js';
import { describe, finite, moments, studentT975 } from './stats.js';

const STRETCHES = 1000;

/** The sides of a run by seed. A seed that its list names more than once has all of its episodes together. */
function sides(matrix: RewardMatrix): Map<number, PairSide> {
  const found = new Map<number, PairSide>();
  for (let row = 0; row < matrix.rows; row++) {
    const seed = matrix.seed(row);
    if (seed === undefined) continue;
    const { rewards, unscored } = matrix.row(row);
    // In order, so that the same rewards of other samples come to the same mean, to the last digit.
    const side = { mean: rewards.length ? moments(rewards.sort((one, other) => one - other)).mean : null, scored: rewards.length, unscored, episode: row * matrix.samples + sampleToShow(matrix, row) };
    const before = found.get(seed);
    found.set(seed, before ? together(before, side) : side);
  }
  return found;
}

function sampleToShow(matrix: RewardMatrix, row: number): number {
  let finished = 0;
  for (let sample = matrix.samples - 1; sample >= 0; sample--) if (matrix.reward(row, sample) !== undefined) finished = sample;
  for (let sample = 0; sample < matrix.samples; sample++) if (typeof matrix.reward(row, sample) === 'number') return sample;
  return finished;
}

function together(one: PairSide, other: PairSide): PairSide {
  const scored = one.scored + other.scored;
  const mean = scored === 0 ? null : ((one.mean ?? 0) * one.scored + (other.mean ?? 0) * other.scored) / scored;
  return { mean, scored, unscored: one.unscored + other.unscored, episode: one.scored > 0 || other.scored === 0 ? one.episode : other.episode };
}

/** Every seed of which one of the runs has finished an episode, by seed. */
export function seedPairs(a: RewardMatrix, b: RewardMatrix): SeedPair[] {
  const [ofA, ofB] = [sides(a), sides(b)];
  const seeds = [...new Set([...ofA.keys(), ...ofB.keys()])].sort((one, other) => one - other);
  return seeds.map((seed) => {
    const [sideA, sideB] = [ofA.get(seed) ?? null, ofB.get(seed) ?? null];
    const [meanA, meanB] = [sideA?.mean ?? null, sideB?.mean ?? null];
    return { seed, a: sideA, b: sideB, delta: meanA === null || meanB === null ? null : finite(meanB - meanA) };
  });
}

export function pairedFigures(pairs: readonly SeedPair[]): PairedFigures {
  const paired = pairs.filter(({ delta }) => delta !== null);
  const deltas = Float64Array.from(paired, ({ delta }) => delta!).sort();
  const [a, b] = [Float64Array.from(paired, (pair) => pair.a!.mean!).sort(), Float64Array.from(paired, (pair) => pair.b!.mean!).sort()];
  const n = deltas.length;
  const { mean, std } = moments(deltas);
  const both = Float64Array.from([...a, ...b]).sort();
  const edges = histogram(both);
  const left = {
    onlyA: pairs.filter((pair) => pair.b === null).length,
    onlyB: pairs.filter((pair) => pair.a === null).length,
    unscored: pairs.filter((pair) => pair.a !== null && pair.b !== null && pair.delta === null).length,
  };
  return {
    pairs: n,
    mean: n === 0 ? null : finite(mean),
    std: finite(std),
    ci95: finite(std === null ? null : (studentT975(n - 1) * std) / Math.sqrt(n)),
    test: signFlipTest(deltas),
    better: deltas.filter((delta) => delta > 0).length,
    same: deltas.filter((delta) => delta === 0).length,
    worse: deltas.filter((delta) => delta < 0).length,
    a: describe(a, 0),
    b: describe(b, 0),
    bins: edges && { low: edges.low, high: edges.high, a: countInto(a, edges), b: countInto(b, edges) },
    deltas: stretches(deltas),
    left,
  };
}

function stretches(sorted: Float64Array): PairedFigures['deltas'] {
  const size = Math.max(1, Math.ceil(sorted.length / STRETCHES));
  return Array.from({ length: Math.ceil(sorted.length / size) }, (_, index) => ({ first: index * size, low: sorted[index * size]!, high: sorted[Math.min(sorted.length, (index + 1) * size) - 1]! }));
}

const KINDS: Readonly<Record<NonNullable<PairsQuery['kind']>, (delta: number | null) => boolean>> = {
  better: (delta) => delta !== null && delta > 0,
  same: (delta) => delta === 0,
  worse: (delta) => delta !== null && delta < 0,
  unpaired: (delta) => delta === null,
};

/** A window of the seeds. Those without a value come last in either direction, and equal ones by seed. */
export function queryPairs(all: readonly SeedPair[], { kind, sort, descending, start, count }: PairsQuery): Pairs {
  const key = ({ seed, a, b, delta }: SeedPair): number | null => (sort === 'seed' ? seed : sort === 'delta' ? delta : ((sort === 'a' ? a : b)?.mean ?? null));
  const turn = descending ? -1 : 1;
  const keyed = all
    .filter(({ delta }) => kind === undefined || KINDS[kind](delta))
    .map((pair) => ({ pair, key: turn * (key(pair) ?? turn * Infinity) }))
    // Two infinities differ by NaN, which is as false as 0.
    .sort((one, other) => one.key - other.key || one.pair.seed - other.pair.seed);
  return { total: keyed.length, start, pairs: keyed.slice(start, start + count).map(({ pair }) => pair) };
}
