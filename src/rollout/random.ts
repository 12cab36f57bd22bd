/** Pseudorandom 32-bit words that are the same for the same seed on every machine. Not for secrets. */

/** xoshiro128** (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2021), from a state of four words that are not all 0. */
export function xoshiro128(state: readonly [number, number, number, number]): () => number {
  let [a, b, c, d] = state;
  const turn = (word: number, by: number): number => (word << by) | (word >>> (32 - by));
  return () => {
    const result = Math.imul(turn(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = turn(d, 11);
    return result;
  };
}

/** The same from a seed: its state is filled by a Weyl sequence that is mixed as SplitMix does it. */
export function words(seed: number): () => number {
  let place = seed >>> 0;
  const next = (): number => {
    place = (place + 0x9e3779b9) >>> 0;
    let word = Math.imul(place ^ (place >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return (word ^ (word >>> 15)) >>> 0;
  };
  return xoshiro128([next(), next(), next(), next()]);
}
