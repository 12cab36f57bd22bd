import { strict as assert } from 'node:assert';
import { advantage, advantageOf, groupFigures, passAtK, queryGroups, seedSeries } from '../../../src/rollout/groups.js';
import { RewardMatrix } from '../../../src/rollout/rewardMatrix.js';
import { moments, studentT975 } from '../../../src/rollout/stats.js';
import { random } from './random.js';

const near = (actual: number | null | undefined, expected: number, tolerance = 1e-12): void => assert(typeof actual === 'number' && Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);

/** `null` is an episode without a reward, `undefined` one that has not finished. */
function matrixOf(rows: readonly (readonly (number | null | undefined)[])[], firstSeed = 0): RewardMatrix {
  const samples = rows[0]?.length ?? 1;
  const matrix = new RewardMatrix(samples, rows.length * samples);
  rows.forEach((row, seed) => row.forEach((reward, sample) => reward !== undefined && matrix.add({ episode: seed * samples + sample, seed: firstSeed + seed, reward })));
  return matrix;
}

/** Share of all ways to draw k of the samples, solved ones first, that have a solved one among them. */
function drawn(n: number, solved: number, k: number): number {
  let [all, hit] = [0, 0];
  for (let set = 0; set < 1 << n; set++) {
    let size = 0;
    for (let bit = 0; bit < n; bit++) size += (set >> bit) & 1;
    if (size !== k) continue;
    all += 1;
    if (set & ((1 << solved) - 1)) hit += 1;
  }
  return hit / all;
}

describe('pass@k', () => {
  it('is the share of all draws of k samples with a solved one', () => {
    for (let n = 1; n <= 10; n++) for (let solved = 0; solved <= n; solved++) for (let k = 1; k <= n; k++) near(passAtK(n, solved, k), drawn(n, solved, k));
  });

  it('is not defined for more than there are samples', () => assert(Number.isNaN(passAtK(4, 4, 5))));

  it('does not overflow', () => {
    near(passAtK(100_000, 1, 50_000), 0.5, 1e-9);
    assert.equal(passAtK(100_000, 99_999, 2), 1);
  });

  it('is averaged over the seeds that have k rewards, with the interval of Student over them', () => {
    const next = random(11);
    const rows = Array.from({ length: 40 }, () => Array.from({ length: 6 }, () => (next(10) === 0 ? null : next(4) === 0 ? 1 : 0)));
    const { passAtK: figures, seeds, unscored, complete } = groupFigures(matrixOf(rows), 1);
    assert.deepEqual(figures.map(({ k }) => k), [1, 2, 4, 6]);
    assert.equal(seeds, 40);
    assert.equal(unscored, rows.flat().filter((reward) => reward === null).length);
    assert.equal(complete, rows.filter((row) => !row.includes(null)).length);
    for (const { k, value, ci95, seeds: of } of figures) {
      const scored = rows.map((row) => row.filter((reward) => reward !== null)).filter((row) => row.length >= k);
      assert.equal(of, scored.length);
      const estimates = scored.map((row) => drawn(row.length, row.filter((reward) => reward === 1).length, k));
      const { mean, std } = moments(estimates);
      near(value, mean);
      const half = (studentT975(of - 1) * std!) / Math.sqrt(of);
      near(ci95!.low, Math.max(0, mean - half));
      near(ci95!.high, Math.min(1, mean + half));
    }
  });

  it('takes no missing reward for a 0', () => {
    const [one] = groupFigures(matrixOf([[1, null], [1, undefined]]), 1).passAtK;
    assert.deepEqual(one, { k: 1, value: 1, ci95: null, seeds: 2 });
  });

  it('is null where no seed has k rewards, and without an interval where seeds agree', () => {
    const figures = groupFigures(matrixOf([[0, null], [0, null], [0, null]]), 1).passAtK;
    assert.deepEqual(figures, [{ k: 1, value: 0, ci95: null, seeds: 3 }, { k: 2, value: null, ci95: null, seeds: 0 }]);
  });

  it('counts from the threshold on, that included', () => assert.equal(groupFigures(matrixOf([[0.5, 0.49]]), 0.5).passAtK[0]!.value, 0.5));
});

describe('advantages', () => {
  it('are rewards less the mean, over the standard deviation of the sample and a little', () => {
    const next = random(3);
    for (let round = 0; round < 50; round++) {
      const rewards = Array.from({ length: 2 + next(15) }, () => next(1000) / 1000);
      const mean = rewards.reduce((sum, value) => sum + value, 0) / rewards.length;
      const std = Math.sqrt(rewards.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (rewards.length - 1));
      const matrix = matrixOf([rewards]);
      const group = queryGroups(matrix, { sort: 'seed', descending: false, start: 0, count: 1 }).groups[0]!;
      rewards.forEach((reward, sample) => {
        near(advantageOf(matrix, sample), (reward - mean) / (std + 1e-4), 1e-9);
        assert.equal(group.advantages[sample], advantageOf(matrix, sample));
      });
      near(group.advantages.reduce<number>((sum, value) => sum + value!, 0), 0, 1e-9);
    }
  });

  it('are as PyTorch has them for the rewards 0, 0, 0, 1', () => {
    // torch.tensor([0., 0., 0., 1.]).std() is 0.5.
    near(advantage(1, moments([0, 0, 0, 1])), 0.75 / 0.5001);
  });

  it('are 0 in a group of equal rewards, which is counted as without signal', () => {
    const matrix = matrixOf([[0.1, 0.1, 0.1], [0.1 + 0.2, 0.3, 0.3], [0, 1, 0], [0.7, null, null]]);
    const { compared, withoutSignal } = groupFigures(matrix, 1);
    assert.deepEqual([compared, withoutSignal], [3, 2]);
    assert.equal(advantageOf(matrix, 0), 0);
    assert.equal(advantageOf(matrix, 9), null, 'alone in its group');
    assert.equal(advantageOf(matrix, 10), null, 'without a reward');
  });
});

describe('groups by seed', () => {
  const matrix = matrixOf([[0, 1], [null, null], [1, 1], [0.5, undefined]], 100);
  const seeds = (sort: 'seed' | 'mean' | 'std' | 'solved', descending = false) => queryGroups(matrix, { sort, descending, start: 0, count: 10 }).groups.map(({ seed }) => seed);

  it('are sorted either way, seeds without a value last', () => {
    assert.deepEqual(seeds('seed', true), [103, 102, 101, 100]);
    assert.deepEqual(seeds('mean'), [100, 103, 102, 101]);
    assert.deepEqual(seeds('mean', true), [102, 100, 103, 101]);
    assert.deepEqual(seeds('std', true), [100, 102, 101, 103]);
    assert.deepEqual(seeds('solved'), [103, 100, 102, 101]);
  });

  it('tell a missing reward from an episode that has not finished', () => {
    const { groups, total } = queryGroups(matrix, { sort: 'seed', descending: false, start: 1, count: 3 });
    assert.equal(total, 4);
    assert.deepEqual(groups[0], { seed: 101, first: 2, scored: 0, solved: 0, mean: null, std: null, flat: false, rewards: [null, null], advantages: [null, null], unfinished: [] });
    assert.equal(groups[1]!.flat, true);
    assert.deepEqual([groups[2]!.rewards, groups[2]!.unfinished], [[0.5, null], [1]]);
  });

  it('grow in any order of arrival, and take in no episode that cannot be', () => {
    const late = new RewardMatrix(3, 3000);
    for (const episode of [2999, 0, 1e15, -1]) late.add({ episode, seed: episode, reward: 1 });
    assert.deepEqual(queryGroups(late, { sort: 'seed', descending: false, start: 0, count: 9 }).groups.map(({ seed, scored }) => [seed, scored]), [[0, 1], [2999, 1]]);
  });
});

describe('rewards by seed', () => {
  it('are one point a seed while there is room', () => {
    assert.deepEqual(seedSeries(matrixOf([[0, 1], [null, null]], 7), 10), { seed: [7, 8], low: [0, null], mean: [0.5, null], high: [1, null], stretch: 1 });
  });

  it('keep the lowest, the highest and the mean of each stretch', () => {
    const next = random(9);
    const rows = Array.from({ length: 2500 }, () => [next(1000)]);
    const { seed, low, mean, high, stretch } = seedSeries(matrixOf(rows), 1000);
    assert.equal(stretch, 3);
    seed.forEach((first, at) => {
      const values = rows.slice(first, first + 3).flat();
      assert.deepEqual([low[at], high[at]], [Math.min(...values), Math.max(...values)]);
      near(mean[at], values.reduce((sum, value) => sum + value, 0) / values.length, 1e-9);
    });
  });
});
