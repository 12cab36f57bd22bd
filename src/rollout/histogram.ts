/** Bins that a person can read: round edges, whole numbers in the middle of theirs. */
import type { Histogram } from '../store/statistics.js';
import { quantile } from './stats.js';

const MAX_BINS = 50;

/** `sorted` ascending, all finite. Null if there are none. */
export function histogram(sorted: Float64Array): Histogram | null {
  if (sorted.length === 0) return null;
  const [min, max] = [sorted[0]!, sorted.at(-1)!];
  // Closer than a round edge can tell apart, or than a width can be computed.
  if (max - min <= Math.max(1e-300, 1e-9 * Math.max(Math.abs(min), Math.abs(max)))) return around(min, max, sorted.length);
  if (!Number.isFinite(max - min)) return count(sorted, min, max, MAX_BINS);
  if (sorted.every(Number.isSafeInteger)) {
    // A whole number lies in the middle of a bin of width 1, or of one that begins half below a round number.
    const width = max - min < MAX_BINS ? 1 : roundUp((max - min + 1) / (MAX_BINS - 1), [1, 2, 5]);
    const low = Math.floor(min / width) * width - 0.5;
    const bins = Math.floor((max - low) / width) + 1;
    return count(sorted, low, low + bins * width, bins);
  }
  const narrowest = roundUp((max - min) / (MAX_BINS - 2), [1, 2, 2.5, 5]);
  const width = Math.max(narrowest, roundDown(freedmanDiaconis(sorted), [5, 2.5, 2, 1]));
  const first = Math.floor(min / width);
  const bins = Math.max(1, Math.ceil(max / width) - first);
  return count(sorted, clean(first * width), clean((first + bins) * width), bins);
}

/** One bin for rewards that are all the same. */
function around(min: number, max: number, size: number): Histogram {
  const margin = Math.max(0.5, Math.abs(max) * 0.05);
  return { low: Math.max(min - margin, -Number.MAX_VALUE), high: Math.min(max + margin, Number.MAX_VALUE), counts: [size] };
}

/** Freedman and Diaconis, "On the histogram as a density estimator" (1981); where half of all rewards are equal, by Sturges (1926). */
function freedmanDiaconis(sorted: Float64Array): number {
  const range = sorted.at(-1)! - sorted[0]!;
  const spread = quantile(sorted, 0.75) - quantile(sorted, 0.25);
  return spread > 0 ? (2 * spread) / Math.cbrt(sorted.length) : range / (Math.log2(sorted.length) + 1);
}

/** The smallest of `steps` times a power of ten that is not below `width`. */
function roundUp(width: number, steps: readonly number[]): number {
  const power = 10 ** Math.floor(Math.log10(width));
  // A little less than the width is as good: 0.30000000000000004 must not become 0.5.
  const step = steps.find((each) => each * power >= width * (1 - 1e-9));
  return step === undefined ? power * 10 : step * power;
}

/** The largest one that is not above it. */
function roundDown(width: number, steps: readonly number[]): number {
  const power = 10 ** Math.floor(Math.log10(width));
  return steps.find((each) => each * power <= width * (1 + 1e-9))! * power;
}

/** Without the last digits, in which 3 x 0.1 is not 0.3. */
const clean = (edge: number): number => Number(edge.toPrecision(15));

function count(sorted: Float64Array, low: number, high: number, bins: number): Histogram {
  return { low, high, counts: countInto(sorted, { low, high, counts: { length: bins } }) };
}

/** How many values fall into each bin of a histogram; all of them must lie within it. */
export function countInto(values: Float64Array, { low, high, counts: { length: bins } }: { readonly low: number; readonly high: number; readonly counts: { readonly length: number } }): number[] {
  const counts = new Array<number>(bins).fill(0);
  for (const value of values) {
    // Halves, as a range can be more than a double can hold.
    const place = ((value / 2 - low / 2) / (high / 2 - low / 2)) * bins;
    // An edge that is written in decimals belongs to the bin above it, on whichever side the division rounded.
    counts[Math.min(bins - 1, Math.max(0, Math.floor(place + 1e-9)))]! += 1;
  }
  return counts;
}
