/** Turns many notices of the same thing into one every so often: the first at once, then at most one each interval. */
export class Coalescer {
  private readonly waiting = new Map<string, { again: boolean }>();

  constructor(private readonly intervalMs: number) {}

  notify(key: string, send: () => void): void {
    const entry = this.waiting.get(key);
    if (entry) {
      entry.again = true;
      return;
    }
    send();
    const wait = { again: false };
    this.waiting.set(key, wait);
    setTimeout(() => {
      this.waiting.delete(key);
      if (wait.again) this.notify(key, send);
    }, this.intervalMs).unref();
  }
}
