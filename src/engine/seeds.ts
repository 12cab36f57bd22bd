/** Seeds as a person gives them on a command line or in an input box. */
import type { SeedSet } from '../template/template.js';

const MOST_SEEDS = 10_000_000;

/** `512` (0 to 511), `0..511`, or `3,17,99`. Throws one sentence that says what was expected. */
export function parseSeeds(text: string): SeedSet {
  const wrong = () => new Error(`"${text.slice(0, 40)}" is no set of seeds: expected how many (512), a range (0..511) or a list (3,17,99)`);
  const numbers = (parts: string[]) =>
    parts.map((part) => {
      const value = Number(part);
      if (!/^\d+$/.test(part.trim()) || !Number.isSafeInteger(value)) throw wrong();
      return value;
    });
  if (text.includes('..')) {
    const [first, last, ...rest] = numbers(text.split('..'));
    if (first === undefined || last === undefined || rest.length || last < first || last - first >= MOST_SEEDS) throw wrong();
    return { first, last };
  }
  const list = numbers(text.split(','));
  if (list.length > 1 || text.includes(',')) return { list };
  if (list[0]! < 1 || list[0]! > MOST_SEEDS) throw wrong();
  return { first: 0, last: list[0]! - 1 };
}
