/** What ends the wait for a command before the command does. */

/** Longest wait that a timer takes (2^31 - 1 ms, 24.8 days). */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class Interruption {
  readonly happened: Promise<'timeout' | 'aborted' | 'expired'>;
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly stop: () => void;

  /** `expiresAt`, in milliseconds since the epoch, is when nobody can be waiting any more. */
  constructor(options: { readonly timeoutMs?: number; readonly signal?: AbortSignal }, expiresAt: number) {
    const { timeoutMs, signal } = options;
    let resolve!: (what: 'timeout' | 'aborted' | 'expired') => void;
    this.happened = new Promise((settle) => (resolve = settle));
    const after = (delay: number, what: 'timeout' | 'expired'): void => void this.timers.push(setTimeout(() => resolve(what), Math.min(delay, LONGEST_TIMER_MS)));
    if (timeoutMs !== undefined) after(timeoutMs, 'timeout');
    after(Math.max(0, expiresAt - Date.now()), 'expired');
    const onAbort = (): void => resolve('aborted');
    signal?.addEventListener('abort', onAbort, { once: true });
    this.stop = () => signal?.removeEventListener('abort', onAbort);
  }

  clear(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.stop();
  }
}
