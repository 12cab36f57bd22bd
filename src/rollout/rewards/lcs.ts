/**
 * Length of the longest common subsequence of two lists of lines, by the bit-vector algorithm of Hyyrö, "Bit-Parallel LCS-length
 * Computation Revisited" (2004): a column of the table is one long integer, so a.length x b.length / 32 steps at most.
 */
export function commonLines(a: readonly string[], b: readonly string[]): number {
  let [start, endA, endB] = [0, a.length, b.length];
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) [endA, endB] = [endA - 1, endB - 1];
  return start + (a.length - endA) + between(a.slice(start, endA), b.slice(start, endB));
}

function between(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  const masks = masksOf(a);
  const words = Math.ceil(a.length / 32);
  // A bit is 0 where the length grows from one line of `a` to the next.
  const column = new Uint32Array(words).fill(0xffffffff);
  const matches = new Uint32Array(words);
  for (const line of b) {
    const here = masks.get(line);
    if (!here) continue;
    for (const { word, bits } of here) matches[word] = bits;
    let carry = 0;
    for (let word = here[0]!.word; word < words; word++) {
      const value = column[word]!;
      const hits = (value & matches[word]!) >>> 0;
      const sum = value + hits + carry;
      carry = sum > 0xffffffff ? 1 : 0;
      column[word] = sum | (value & ~hits);
    }
    for (const { word } of here) matches[word] = 0;
  }
  let length = 0;
  for (let index = 0; index < a.length; index++) if (!(column[index >>> 5]! & (1 << (index & 31)))) length += 1;
  return length;
}

interface Mask {
  readonly word: number;
  bits: number;
}

/** Where each line occurs, as the words of a bit vector that are not 0, in order. */
function masksOf(lines: readonly string[]): Map<string, Mask[]> {
  const masks = new Map<string, Mask[]>();
  lines.forEach((line, index) => {
    const [word, bit] = [index >>> 5, 1 << (index & 31)];
    const known = masks.get(line);
    const last = known?.at(-1);
    if (last?.word === word) last.bits |= bit;
    else if (known) known.push({ word, bits: bit });
    else masks.set(line, [{ word, bits: bit }]);
  });
  return masks;
}
