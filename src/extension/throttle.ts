/** Calls at most once per interval: at once the first time, and a last time after a burst, so that the end is never missed. */
export class Throttle {
  private timer: NodeJS.Timeout | undefined;
  private again = false;

  constructor(
    private readonly intervalMs: number,
    private readonly call: () => void,
  ) {}

  trigger(): void {
    if (this.timer) {
      this.again = true;
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (!this.again) return;
      this.again = false;
      this.trigger();
    }, this.intervalMs);
    this.call();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.again = false;
  }
}
