/** The running sum of what a run costs: seconds of sandboxes that live, each at its price, and a cap on it. */
import type { RunCost } from '../store/records.js';

export interface MeterOptions {
  /** Of the same run before it was interrupted. */
  readonly from?: RunCost;
  /** Longest life of a sandbox in milliseconds: those that lived when the run was interrupted count until now, and no longer than that. */
  readonly lifetimeMs: number;
  /** Dollars. */
  readonly cap?: number;
  /** Called once, when the sum has come to the cap. */
  readonly onCap: () => void;
}

/** `setTimeout` takes no more. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export class Meter {
  readonly cap: number | undefined;
  private sum: number;
  private secondsSum: number;
  private rate = 0;
  private living = 0;
  private last = performance.now();
  private timer: NodeJS.Timeout | undefined;
  private reached = false;
  private idle: (() => void)[] = [];

  constructor(private readonly options: MeterOptions) {
    const { from, cap, lifetimeMs } = options;
    this.cap = cap;
    this.sum = from ? from.spent + (from.perSecond * Math.max(0, Math.min(Date.now() - from.at, lifetimeMs))) / 1000 : 0;
    this.secondsSum = from?.seconds ?? 0;
  }

  get spent(): number {
    this.advance();
    return this.sum;
  }

  get state(): RunCost {
    return { spent: this.spent, seconds: this.secondsSum, perSecond: this.rate, at: Date.now() };
  }

  /** A sandbox costs that much a second, and has since so many milliseconds; the answer ends it, or takes all of it back. */
  begin(perSecond: number, agoMs = 0): (takenBack?: 'taken-back') => void {
    this.advance();
    const start = this.last - agoMs;
    this.sum += (perSecond * agoMs) / 1000;
    this.secondsSum += agoMs / 1000;
    this.change(perSecond, 1);
    let ended = false;
    return (takenBack) => {
      if (ended) return;
      ended = true;
      this.advance();
      if (takenBack) {
        this.sum -= (perSecond * (this.last - start)) / 1000;
        this.secondsSum -= (this.last - start) / 1000;
      }
      this.change(-perSecond, -1);
    };
  }

  /** Resolves when nothing lives that it counts. */
  settled(): Promise<void> {
    return this.living === 0 ? Promise.resolve() : new Promise((resolve) => this.idle.push(resolve));
  }

  private change(perSecond: number, count: number): void {
    this.living += count;
    // Sums of many small numbers come back to nothing only nearly.
    this.rate = this.living === 0 ? 0 : this.rate + perSecond;
    if (this.living === 0) for (const resolve of this.idle.splice(0)) resolve();
    this.watch();
  }

  private advance(): void {
    const now = performance.now();
    this.sum += (this.rate * (now - this.last)) / 1000;
    this.secondsSum += (this.living * (now - this.last)) / 1000;
    this.last = now;
  }

  /** Wakes when the cap is come to, and not before. */
  private watch(): void {
    clearTimeout(this.timer);
    if (this.cap === undefined || this.reached) return;
    const left = this.cap - this.sum;
    if (left > 0 && this.rate === 0) return;
    const wake = (): void => {
      this.advance();
      if (this.sum < this.cap!) return this.watch();
      this.reached = true;
      this.options.onCap();
    };
    if (left <= 0) queueMicrotask(() => !this.reached && wake());
    else this.timer = setTimeout(wake, Math.min(LONGEST_TIMEOUT_MS, Math.ceil((left / this.rate) * 1000)));
    this.timer?.unref();
  }
}

/** Why a run was ended whose sandboxes have cost what it may. */
export class CostReached extends Error {
  constructor(cap: number) {
    super(`max_cost: the run has come to the $${Number(cap.toPrecision(6))} that it may cost`);
    this.name = 'CostReached';
  }
}
