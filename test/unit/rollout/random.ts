/** Whole numbers below a bound, the same ones for the same seed, so that a failure can be repeated (a linear congruential generator). */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
