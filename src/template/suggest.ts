/** "Did you mean": the nearest of some names. */

/** Longer words are no typing errors of a key, and the distance costs the product of both lengths. */
const LONGEST_WORD = 64;

/**
 * Fewest insertions, deletions, substitutions and swaps of neighbours that make one word of the other, no place being edited twice
 * (the "optimal string alignment" form of the Damerau-Levenshtein distance).
 */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, beforePrevious[j - 2]! + 1);
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length]!;
}

/** The candidate that is most likely meant: at most a third of its letters wrong, and at least one allowed. Case and `-` for `_` do not count. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  const plain = (text: string) => text.toLowerCase().replaceAll('-', '_');
  let best: { name: string; distance: number } | undefined;
  for (const name of candidates) {
    const distance = editDistance(plain(word), plain(name));
    if (distance <= Math.max(1, Math.floor(name.length / 3)) && distance < (best?.distance ?? Infinity)) best = { name, distance };
  }
  return best?.name;
}
