/** What goes wrong at a vendor, each with a probability. Which requests are hit depends on the seed only, as far as their order does. */

export class Faults<Fault extends string> {
  /** How often each has struck. */
  readonly struck: Partial<Record<Fault, number>> = {};
  private state: number;

  constructor(
    readonly probabilities: Partial<Record<Fault, number>> = {},
    seed = 1,
  ) {
    this.state = seed >>> 0;
  }

  strikes(fault: Fault): boolean {
    const probability = this.probabilities[fault] ?? 0;
    if (probability <= 0 || this.random() >= probability) return false;
    this.struck[fault] = (this.struck[fault] ?? 0) + 1;
    return true;
  }

  /** From 0 to 1, without 1 (mulberry32). */
  private random(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
