/** What is kept of every step: about 30 bytes, so that a million of them are 30 MB. */
import type { StepKind, StepSummary, TimelineBin } from './model.js';

const KINDS: readonly StepKind[] = ['message', 'model', 'tool', 'action', 'reset', 'verifier', 'error'];
const [ERROR, FAILED, REWARD] = [1, 2, 4];

export class StepIndex {
  length = 0;
  /** Steps, from the first on, whose errors and rewards are known. */
  known = 0;
  private starts = new Float64Array(64);
  private sizes = new Float64Array(64);
  private times = new Float64Array(64);
  private rewards = new Float32Array(64);
  private kinds = new Uint8Array(64);
  private flags = new Uint8Array(64);

  add(start: number, end: number, kind: StepKind, at?: number): void {
    if (this.length === this.starts.length) this.grow();
    const index = this.length;
    this.starts[index] = start;
    this.sizes[index] = end - start;
    this.kinds[index] = KINDS.indexOf(kind);
    this.times[index] = at ?? NaN;
    this.flags[index] = 0;
    this.length += 1;
  }

  /** Takes away the last step. */
  pop(): void {
    this.length -= 1;
    this.known = Math.min(this.known, this.length);
  }

  /** What its summary says of the step. A command that failed is no error of the episode: `n` stops there, a trace is not opened on it. */
  learn(index: number, { kind, reward, error, at }: Pick<StepSummary, 'kind' | 'reward' | 'error' | 'at'>): void {
    this.kinds[index] = KINDS.indexOf(kind);
    if (at !== undefined) this.times[index] = at;
    const known = typeof reward === 'number' && Number.isFinite(reward);
    if (known) this.rewards[index] = reward;
    this.flags[index] = (error === undefined ? 0 : /^exit \d+$/.test(error) ? FAILED : ERROR) | (known ? REWARD : 0);
    this.known = Math.max(this.known, index + 1);
  }

  span(index: number): { readonly start: number; readonly end: number } {
    const start = this.starts[index]!;
    return { start, end: start + this.sizes[index]! };
  }

  nextError(from: number, direction: 1 | -1): number | undefined {
    for (let index = from + direction; index >= 0 && index < this.length; index += direction) if (this.flags[index]! & (ERROR | FAILED)) return index;
    return undefined;
  }

  firstError(): number | undefined {
    for (let index = 0; index < this.known; index += 1) if (this.flags[index]! & ERROR) return index;
    return undefined;
  }

  /** The first step whose reward is another than that of the step with a reward before it, or than 0. */
  firstReward(): number | undefined {
    let before: number | undefined;
    for (let index = 0; index < this.known; index += 1) {
      if (!(this.flags[index]! & REWARD)) continue;
      const reward = this.rewards[index]!;
      if (reward !== 0 && reward !== before && (before !== undefined || index > 1)) return index;
      before = reward;
    }
    return undefined;
  }

  /** The step in whose bytes an offset lies, of those from `first` on that lie in the order of the file. */
  at(offset: number, first = 0, last = this.length): number | undefined {
    let [low, high] = [first, last];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle]! + this.sizes[middle]! > offset) high = middle;
      else low = middle + 1;
    }
    return low < last && this.starts[low]! <= offset ? low : undefined;
  }

  /** Bins of as many steps each. */
  timeline(bins: number): TimelineBin[] {
    const count = Math.max(1, Math.min(Math.floor(bins), this.length));
    const begin = this.times[0]!;
    const timed = this.length > 0 && !Number.isNaN(begin) && !Number.isNaN(this.times[this.length - 1]!);
    const time = (index: number): number => (timed ? Math.max(0, (Number.isNaN(this.times[index]!) ? begin : this.times[index]!) - begin) : index);
    const result: TimelineBin[] = [];
    let sum = 0;
    let rewarded = false;
    for (let bin = 0; bin < count && this.length; bin += 1) {
      const first = Math.floor((bin * this.length) / count);
      const last = Math.floor(((bin + 1) * this.length) / count) - 1;
      let error = false;
      let top = 0;
      const counts = new Uint32Array(KINDS.length);
      for (let index = first; index <= last; index += 1) {
        const flags = this.flags[index]!;
        if (flags & ERROR) error = true;
        if (flags & REWARD && KINDS[this.kinds[index]!] !== 'verifier') {
          sum += this.rewards[index]!;
          rewarded = true;
        }
        counts[this.kinds[index]!]! += 1;
      }
      for (let kind = 1; kind < KINDS.length; kind += 1) if (counts[kind]! > counts[top]!) top = kind;
      result.push({ first, last, from: time(first), to: last + 1 < this.length ? time(last + 1) : timed ? time(last) : last + 1, kind: KINDS[top]!, error, ...(rewarded && { reward: sum }) });
    }
    return result;
  }

  private grow(): void {
    const size = Math.ceil(this.starts.length * 1.5);
    const enlarge = <T extends Float64Array | Float32Array | Uint8Array>(array: T, create: new (length: number) => T): T => {
      const larger = new create(size);
      larger.set(array);
      return larger;
    };
    this.starts = enlarge(this.starts, Float64Array);
    this.sizes = enlarge(this.sizes, Float64Array);
    this.times = enlarge(this.times, Float64Array);
    this.rewards = enlarge(this.rewards, Float32Array);
    this.kinds = enlarge(this.kinds, Uint8Array);
    this.flags = enlarge(this.flags, Uint8Array);
  }
}
