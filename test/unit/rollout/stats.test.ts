import { strict as assert } from 'node:assert';
import { histogram } from '../../../src/rollout/histogram.js';
import { describe as describeRewards, quantile, series, studentT975 } from '../../../src/rollout/stats.js';
import { random } from './random.js';

const sorted = (values: readonly number[]): Float64Array => Float64Array.from(values).sort();

function near(actual: number | null, expected: number, relative = 1e-12): void {
  assert(actual !== null && Math.abs(actual - expected) <= relative * Math.max(1, Math.abs(expected)), `${actual} is not ${expected}`);
}

describe('statistics of rewards', () => {
  it('of none are null', () => {
    assert.deepEqual(describeRewards(sorted([]), 3), { scored: 0, unscored: 3, mean: null, std: null, ci95: null, min: null, median: null, max: null });
  });

  it('of one have no spread', () => {
    assert.deepEqual(describeRewards(sorted([0.5]), 0), { scored: 1, unscored: 0, mean: 0.5, std: null, ci95: null, min: 0.5, median: 0.5, max: 0.5 });
  });

  it('are what the formulas say', () => {
    const next = random(5);
    for (const size of [2, 3, 11, 100, 1001]) {
      const values = Array.from({ length: size }, () => next(2001) / 1000 - 1);
      const mean = values.reduce((sum, value) => sum + value, 0) / size;
      const std = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (size - 1));
      const stats = describeRewards(sorted(values), 0);
      near(stats.mean, mean);
      near(stats.std, std);
      near(stats.ci95, (studentT975(size - 1) * std) / Math.sqrt(size));
      assert.equal(stats.min, Math.min(...values));
      assert.equal(stats.max, Math.max(...values));
    }
  });

  it('keep their digits far from zero', () => near(describeRewards(sorted([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]), 0).std, Math.sqrt(30), 1e-9));

  it('of equal rewards have a spread of exactly 0', () => {
    const stats = describeRewards(sorted(new Array<number>(7).fill(0.1)), 0);
    assert.deepEqual([stats.mean, stats.std, stats.ci95], [0.1, 0, 0]);
  });

  it('are null where they overflow, and not infinite', () => {
    const stats = describeRewards(sorted([-1.7e308, 1.7e308]), 0);
    assert.deepEqual([stats.mean, stats.std, stats.ci95], [null, null, null]);
    assert.equal(stats.median, 0);
  });

  it('have the median of an odd and of an even number', () => {
    assert.equal(quantile(sorted([3, 1, 2]), 0.5), 2);
    assert.equal(quantile(sorted([4, 1, 2, 3]), 0.5), 2.5);
    assert.equal(quantile(sorted([0, 10]), 0.25), 2.5);
  });
});

describe("Student's t, 97.5 %", () => {
  // NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2.
  const table: readonly [number, number][] = [[1, 12.706], [2, 4.303], [3, 3.182], [4, 2.776], [5, 2.571], [7, 2.365], [9, 2.262], [10, 2.228], [11, 2.201], [15, 2.131], [20, 2.086], [30, 2.042], [60, 2.0], [100, 1.984]];
  for (const [freedom, value] of table) it(`with ${freedom} degrees of freedom is ${value}`, () => assert.equal(Number(studentT975(freedom).toFixed(3)), value));

  it('leaves 2.5 % of the distribution above it', () => {
    // By Simpson's rule over the angle whose tangent is t / sqrt(freedom), where the density is a power of a cosine.
    const simpson = (f: (x: number) => number, end: number, steps = 4000) => {
      let sum = f(0) + f(end);
      for (let step = 1; step < steps; step++) sum += f((end * step) / steps) * (step % 2 ? 4 : 2);
      return (sum * end) / steps / 3;
    };
    for (const freedom of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 17, 31, 100, 511]) {
      const density = (angle: number) => Math.cos(angle) ** (freedom - 1);
      const inside = simpson(density, Math.atan(studentT975(freedom) / Math.sqrt(freedom))) / simpson(density, Math.PI / 2);
      assert(Math.abs(inside - 0.95) < 5e-7, `${freedom}: ${inside}`);
    }
  });

  it('comes to the normal distribution', () => near(studentT975(1e9), 1.959963985, 1e-8));
});

describe('the histogram', () => {
  const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

  it('of nothing is null', () => assert.equal(histogram(sorted([])), null));

  it('of one value has one bin around it', () => {
    assert.deepEqual(histogram(sorted([2, 2, 2])), { low: 1.5, high: 2.5, counts: [3] });
    assert.deepEqual(histogram(sorted([1e6])), { low: 950_000, high: 1_050_000, counts: [1] });
  });

  it('of 0 and 1 has a bin for each', () => assert.deepEqual(histogram(sorted([0, 1, 1])), { low: -0.5, high: 1.5, counts: [1, 2] }));

  it('of few whole numbers has each in the middle of its bin', () => assert.deepEqual(histogram(sorted([-1, 3, 3])), { low: -1.5, high: 3.5, counts: [1, 0, 0, 0, 2] }));

  it('of shares has round edges', () => {
    const values = Array.from({ length: 512 }, (_, index) => index / 511);
    const bins = histogram(sorted(values))!;
    assert.deepEqual([bins.low, bins.high, bins.counts.length], [0, 1, 10]);
    assert.equal(total(bins.counts), 512);
  });

  it('puts a value on an edge into the bin above it', () => {
    const values = [...Array.from({ length: 11 }, (_, index) => index / 10), ...Array.from({ length: 500 }, (_, index) => index / 500)];
    const { low, high, counts } = histogram(sorted(values))!;
    const width = (high - low) / counts.length;
    counts.forEach((count, bin) => {
      const [from, to] = [low + bin * width, low + (bin + 1) * width];
      const expected = values.filter((value) => value >= from - 1e-9 && (value < to - 1e-9 || (bin === counts.length - 1 && value <= high))).length;
      assert.equal(count, expected, `bin ${bin}`);
    });
  });

  const extreme: readonly [string, number[]][] = [
    ['neighbouring doubles', [1, 1 + Number.EPSILON]],
    ['the smallest doubles', [0, 5e-324]],
    ['the largest doubles', [-Number.MAX_VALUE, 0, Number.MAX_VALUE]],
    ['one large value', [Number.MAX_VALUE]],
    ['large whole numbers', [0, Number.MAX_SAFE_INTEGER]],
    ['a far outlier', [...Array.from({ length: 999 }, (_, index) => index / 999), 1e12]],
    ['many equal values and one other', [...new Array<number>(1000).fill(0.25), 0.75]],
    ['a hundred whole numbers', Array.from({ length: 100 }, (_, index) => index * 3)],
    ['large numbers close together', [1e15 + 0.25, 1e15 + 0.5, 1e15 + 1e7]],
  ];
  for (const [name, values] of extreme) {
    it(`holds ${name}, in at most 50 bins`, () => {
      const { low, high, counts } = histogram(sorted(values))!;
      assert(Number.isFinite(low) && Number.isFinite(high) && low < high, `${low} to ${high}`);
      assert(low <= Math.min(...values) && high >= Math.max(...values), `${low} to ${high}`);
      assert(counts.length >= 1 && counts.length <= 50, `${counts.length} bins`);
      assert.equal(total(counts), values.length);
    });
  }

  it('holds whatever comes', () => {
    const next = random(11);
    for (let round = 0; round < 500; round++) {
      const scale = 10 ** (next(40) - 20);
      const values = Array.from({ length: 1 + next(200) }, () => (next(1000) - 500) * scale);
      const { low, high, counts } = histogram(sorted(values))!;
      assert(low <= Math.min(...values) && high >= Math.max(...values), `round ${round}: ${low} to ${high}`);
      assert(counts.length <= 50, `round ${round}: ${counts.length} bins`);
      assert.equal(total(counts), values.length);
    }
  });
});

describe('the series', () => {
  it('of few rewards is all of them, with their running mean', () => {
    assert.deepEqual(series(Float64Array.of(NaN, 1, 0, NaN, 0.5), 10), { x: [1, 2, 3, 4, 5], reward: [null, 1, 0, null, 0.5], runningMean: [null, 1, 0.5, 0.5, 0.5] });
  });

  it('of many is bounded, ordered, ends with the last, and loses no extreme', () => {
    const next = random(2);
    for (const size of [1001, 1999, 5000, 100_003]) {
      const rewards = Float64Array.from({ length: size }, () => (next(10) ? next(1000) / 1000 : NaN));
      const [lowest, highest] = [next(size), next(size)];
      rewards[lowest] = -5;
      rewards[highest] = 7;
      const { x, reward, runningMean } = series(rewards, 1000);
      assert(x.length <= 1000 && x.length >= 300, `${x.length} points`);
      assert(x.every((place, index) => index === 0 || place > x[index - 1]!));
      assert.equal(x.at(-1), size);
      x.forEach((place, index) => assert.equal(reward[index], Number.isNaN(rewards[place - 1]!) ? null : rewards[place - 1]));
      assert.equal(x[reward.indexOf(7)], highest + 1);
      if (lowest !== highest) assert.equal(x[reward.indexOf(-5)], lowest + 1);
      const scored = rewards.filter((value) => !Number.isNaN(value));
      near(runningMean.at(-1)!, scored.reduce((sum, value) => sum + value, 0) / scored.length, 1e-9);
    }
  });
});
