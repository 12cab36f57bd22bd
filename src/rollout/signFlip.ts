/**
 * The paired sign-flip permutation test: if nothing but chance tells two runs apart, each difference could as well have had the other sign (Fisher,
 * "The Design of Experiments", 1935, section 21). p is the share of assignments of signs whose mean lies at least as far from 0 as the one that was seen.
 */
import type { SignFlipTest } from '../store/comparison.js';
import { words } from './random.js';

/** Up to so many differences that are not 0, every assignment is looked at: 2^20 of them. */
const EXACT_UP_TO = 20;
/** Assignments that are drawn else; with the one that was seen, 10,000. */
const DRAWN = 9999;
/** Of the generator: the same two runs have the same p each time. */
const SEED = 0;

/** Two sums that differ by less than this share of all that is added up are equal but for rounding. */
const TOLERANCE = 1e-10;

/** Null without a difference. A difference of 0 has no sign and changes nothing. */
export function signFlipTest(deltas: ArrayLike<number>): SignFlipTest | null {
  if (deltas.length === 0) return null;
  const values = Float64Array.from(deltas).filter((delta) => delta !== 0);
  const all = values.reduce((sum, delta) => sum + Math.abs(delta), 0);
  const seen = Math.abs(values.reduce((sum, delta) => sum + delta, 0)) - TOLERANCE * all;
  return values.length <= EXACT_UP_TO ? exact(values, seen) : drawn(values, seen);
}

function exact(values: Float64Array, seen: number): SignFlipTest {
  // All signs turned round give the same distance from 0: half of the assignments stand for all.
  const extreme = (at: number, sum: number): number => (at === values.length ? (Math.abs(sum) >= seen ? 1 : 0) : extreme(at + 1, sum + values[at]!) + extreme(at + 1, sum - values[at]!));
  const permutations = 2 ** values.length;
  return { p: values.length === 0 ? 1 : (2 * extreme(1, values[0]!)) / permutations, method: 'exact', permutations };
}

/**
 * The one that was seen counts as drawn, so that p is never 0 (Phipson and Smyth, "Permutation P-values Should Never Be Zero", 2010). Eight differences at a
 * time: a random byte chooses among the 256 sums that they can have.
 */
function drawn(values: Float64Array, seen: number): SignFlipTest {
  const next = words(SEED);
  const sums = new Float64Array(DRAWN);
  const table = new Float64Array(256);
  for (let start = 0; start < values.length; start += 8) {
    const block = values.subarray(start, start + 8);
    for (let byte = 0; byte < 256; byte++) table[byte] = block.reduce((sum, delta, bit) => (byte & (1 << bit) ? sum + delta : sum - delta), 0);
    for (let at = 0; at < DRAWN; ) for (let word = next(), left = 4; left > 0 && at < DRAWN; left--, word >>>= 8) sums[at++]! += table[word & 255]!;
  }
  const extreme = sums.reduce((count, sum) => (Math.abs(sum) >= seen ? count + 1 : count), 1);
  return { p: extreme / (DRAWN + 1), method: 'monte-carlo', permutations: DRAWN + 1 };
}
