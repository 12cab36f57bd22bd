/** Requests of a sandbox to its proxy, as events of a trace: so many that they tell what was tried, and no more, however often a program tries. */
import type { NetworkRequest } from '../sandbox/network/proxy.js';
import type { TraceWriter } from '../trace/writer.js';

/** Of refused and of allowed ones each. */
const MOST_EVENTS = 500;

export class NetworkLog {
  private readonly allowed = new Set<string>();
  private refused = 0;
  private left = 0;
  private closed = false;

  constructor(private readonly trace: Pick<TraceWriter, 'write' | 'note'>) {}

  /** Records a request; one that comes after the end, as from a sandbox that is kept, is nobody's. */
  record({ host, port, refused }: NetworkRequest): void {
    if (this.closed) return;
    if (refused === undefined) {
      const goal = `${host} ${port}`;
      if (this.allowed.has(goal) || this.allowed.size >= MOST_EVENTS) return;
      this.allowed.add(goal);
    } else if (++this.refused > MOST_EVENTS) return void this.left++;
    this.trace.write({ type: 'network', at: Date.now(), host, port, ...(refused === undefined ? {} : { refused }) });
  }

  /** Tells of what was left out. */
  close(): void {
    if (!this.closed && this.left > 0) this.trace.note('warning', 'network', `${this.left} more requests to the network were refused`);
    this.closed = true;
  }
}
