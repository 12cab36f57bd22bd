import { strict as assert } from 'node:assert';
import { commonLines } from '../../../src/rollout/rewards/lcs.js';
import { random } from './random.js';

/** The table that every textbook has. */
function naive(a: readonly string[], b: readonly string[]): number {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = 1; i <= a.length; i++) for (let j = 1; j <= b.length; j++) table[i]![j] = a[i - 1] === b[j - 1] ? table[i - 1]![j - 1]! + 1 : Math.max(table[i - 1]![j]!, table[i]![j - 1]!);
  return table[a.length]![b.length]!;
}

describe('common lines', () => {
  it('of nothing are none', () => {
    assert.equal(commonLines([], []), 0);
    assert.equal(commonLines(['a'], []), 0);
  });

  it('are counted in order', () => {
    assert.equal(commonLines([...'abcde'], [...'abcde']), 5);
    assert.equal(commonLines([...'abcde'], [...'edcba']), 1);
    assert.equal(commonLines([...'xaybz'], [...'1a2b3']), 2);
  });

  it('are as many as the table says', () => {
    const next = random(3);
    for (let round = 0; round < 200; round++) {
      const letters = 1 + next(8);
      const [a, b] = [next(120), next(120)].map((length) => Array.from({ length }, () => String(next(letters))));
      assert.equal(commonLines(a!, b!), naive(a!, b!), `round ${round}`);
    }
  });

  it('of two long files in which every line is shared, but in another order, are found', () => {
    const a = Array.from({ length: 20_000 }, (_, index) => `line ${index}`);
    assert.equal(commonLines(a, [...a].reverse()), 1);
    assert.equal(commonLines(a, a.map((line, index) => (index % 2 ? line : 'x'))), 10_000);
  });
});
