/** The comparison of two runs, held against values from elsewhere: each says where it comes from. */
import assert from 'node:assert/strict';
import { pairedFigures, queryPairs, seedPairs } from '../../../src/rollout/paired.js';
import { words, xoshiro128 } from '../../../src/rollout/random.js';
import { RewardMatrix } from '../../../src/rollout/rewardMatrix.js';
import { signFlipTest } from '../../../src/rollout/signFlip.js';

/** Cross- minus self-fertilised maize, eighths of an inch: Darwin (1876), as Fisher gives it in "The Design of Experiments" (1935), section 17. */
const DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];

/** 1 to n, the first of which that add up to `negative` with a minus: the ranks of Wilcoxon's signed-rank test. */
function ranks(n: number, negative: number): number[] {
  let left = negative;
  return Array.from({ length: n }, (_, index) => n - index).map((rank) => {
    if (rank > left) return rank;
    left -= rank;
    return -rank;
  });
}

function run(rewards: readonly (readonly (number | null | undefined)[])[], seeds?: readonly number[]): RewardMatrix {
  const samples = Math.max(...rewards.map((row) => row.length));
  const matrix = new RewardMatrix(samples, rewards.length * samples);
  rewards.forEach((row, index) => row.forEach((reward, sample) => reward !== undefined && matrix.add({ episode: index * samples + sample, seed: seeds?.[index] ?? index, reward })));
  return matrix;
}

const column = (...rewards: (number | null)[]) => run(rewards.map((reward) => [reward]));
const near = (actual: number | null | undefined, expected: number, tolerance = 1e-6) => assert.ok(Math.abs(actual! - expected) <= tolerance, `${actual} is not ${expected}`);

describe('sign-flip test', () => {
  it('gives the count that Fisher worked out by hand for Darwin’s plants', () => {
    // Section 21: 863 of 32,768 assignments lie as far or further to each side.
    assert.deepEqual(signFlipTest(DARWIN), { p: (2 * 863) / 32_768, method: 'exact', permutations: 32_768 });
  });

  it('is Wilcoxon’s signed-rank test where the differences are ranks', () => {
    // scipy.stats.wilcoxon(ranks, method='exact') 1.17: 52 and 137 are the critical values of its tables at 5 % for n = 20 and 30.
    near(signFlipTest(ranks(20, 52))!.p, 0.04844093322753906);
    near(signFlipTest(ranks(20, 20))!.p, 0.0007076263427734375);
    const drawn = signFlipTest(ranks(30, 137))!;
    assert.equal(drawn.method, 'monte-carlo');
    // Four standard errors of a share of 10,000.
    near(drawn.p, 0.049710121005773544, 4 * Math.sqrt((0.05 * 0.95) / 10_000));
  });

  it('is never 0, the same each time, and 1 where nothing differs', () => {
    const clear = Array.from({ length: 200 }, (_, index) => 1 + index / 200);
    assert.deepEqual(signFlipTest(clear), { p: 1 / 10_000, method: 'monte-carlo', permutations: 10_000 });
    const doubtful = clear.map((value, index) => (index % 2 ? value : -value));
    assert.deepEqual(signFlipTest(doubtful), signFlipTest(doubtful));
    assert.equal(signFlipTest([0, 0, 0])!.p, 1);
    assert.equal(signFlipTest([0.5])!.p, 1);
    assert.equal(signFlipTest([0, 0.5, 0.5, 0])!.p, 0.5);
    assert.equal(signFlipTest([]), null);
    // Sums that are equal but for rounding are equal.
    assert.equal(signFlipTest([0.1, 0.2, -0.3])!.p, 1);
  });
});

describe('pseudorandom words', () => {
  it('are those of the generator that is named, and even', () => {
    // Of the reference implementation in C, as the tests of edorfaus/xoshiro-6502 have them.
    const next = xoshiro128([0x964d4a0c, 0xd40ab895, 0xad7fdecb, 0x3006f0f0]);
    assert.deepEqual([next(), next(), next(), next()], [0xf1391922, 0x6fe53806, 0xa5be2840, 0xf510ee70]);
    const bits = Array.from({ length: 10_000 }, words(0)).map((word) => word.toString(2).replaceAll('0', '').length);
    // Mean 16 of 32 bits, with a standard error of 0.028.
    near(bits.reduce((sum, count) => sum + count, 0) / 10_000, 16, 0.12);
  });
});

describe('two runs, seed by seed', () => {
  it('has the mean difference and its interval as Fisher gives them', () => {
    // Mean 20.93, s 37.74, t 2.148; by scipy.stats.ttest_rel 1.17 the 95 % interval is from 0.03119 to 41.83547.
    const figures = pairedFigures(seedPairs(column(...DARWIN.map(() => 0)), column(...DARWIN)));
    near(figures.mean, 314 / 15);
    near(figures.std, 37.74, 0.005);
    near(figures.mean! - figures.ci95!, 0.031193, 1e-4);
    near(figures.mean! + figures.ci95!, 41.835473, 1e-4);
    assert.deepEqual([figures.better, figures.same, figures.worse, figures.pairs], [13, 0, 2, 15]);
  });

  it('takes the mean over the samples of a seed, whatever their order, and leaves out what has no reward', () => {
    const a = run([[0.1, 0.2, 0.3], [1, null, 0], [null, null, null], [0.5, undefined, undefined]]);
    const b = run([[0.3, 0.1, 0.2], [0.75, 0.75, 0.75], [1, 1, 1]]);
    const pairs = seedPairs(a, b);
    assert.deepEqual(pairs.map(({ delta }) => delta), [0, 0.25, null, null]);
    assert.deepEqual(pairs[1]!.a, { mean: 0.5, scored: 2, unscored: 1, episode: 3 });
    assert.equal(pairs[3]!.b, null);
    const { left, better, same, pairs: n } = pairedFigures(pairs);
    assert.deepEqual({ left, better, same, n }, { left: { onlyA: 1, onlyB: 0, unscored: 1 }, better: 1, same: 1, n: 2 });
  });

  it('pairs by seed, not by place, and takes a seed that is there twice as one', () => {
    const pairs = seedPairs(run([[1], [2], [4]], [7, 5, 7]), run([[10], [20]], [5, 7]));
    assert.deepEqual(pairs.map(({ seed, delta }) => [seed, delta]), [[5, 8], [7, 17.5]]);
  });

  it('has nothing to say without a pair, no interval from one, and no overflow', () => {
    const none = pairedFigures(seedPairs(column(1), run([[1]], [9])));
    assert.deepEqual([none.pairs, none.mean, none.ci95, none.test, none.bins, none.deltas], [0, null, null, null, null, []]);
    const one = pairedFigures(seedPairs(column(0.25), column(1)));
    assert.deepEqual([one.mean, one.ci95, one.std, one.test!.p], [0.75, null, null, 1]);
    assert.equal(pairedFigures(seedPairs(column(-1.7e308), column(1.7e308))).mean, null);
  });

  it('counts both runs in the same bins, and thins the differences to their extremes', () => {
    const seeds = Array.from({ length: 5000 }, (_, index) => index / 5000);
    const { bins, deltas } = pairedFigures(seedPairs(column(...seeds.map(() => 0.5)), column(...seeds)));
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    assert.deepEqual([sum(bins!.a), sum(bins!.b), bins!.a.length], [5000, 5000, bins!.b.length]);
    assert.equal(deltas.length, 1000);
    assert.deepEqual([deltas[0]!.low, deltas.at(-1)!.high], [-0.5, 4999 / 5000 - 0.5]);
  });

  it('gives windows in any order, those without a value last', () => {
    const pairs = seedPairs(column(0.5, 0.5, null, 0.5), column(0.75, 0.25, 1, 0.5));
    const seeds = (query: Partial<Parameters<typeof queryPairs>[1]>) => queryPairs(pairs, { sort: 'delta', descending: false, start: 0, count: 10, ...query }).pairs.map(({ seed }) => seed);
    assert.deepEqual(seeds({}), [1, 3, 0, 2]);
    assert.deepEqual(seeds({ descending: true }), [0, 3, 1, 2]);
    assert.deepEqual(seeds({ sort: 'a', descending: true }), [0, 1, 3, 2]);
    assert.deepEqual(seeds({ kind: 'unpaired' }), [2]);
    assert.deepEqual(seeds({ start: 1, count: 2 }), [3, 0]);
    assert.equal(queryPairs(pairs, { kind: 'better', sort: 'seed', descending: false, start: 0, count: 0 }).total, 1);
  });
});
