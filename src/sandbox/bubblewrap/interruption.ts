/** What can end a command before its time: its deadline, its signal, its input. */
import { ExecTimeout } from '../errors.js';
import type { ExecOptions } from '../provider.js';

export class Interruption {
  /** Rejects with the reason, once. */
  readonly happened: Promise<never>;
  private raise!: (reason: unknown) => void;
  private readonly timer: NodeJS.Timeout | undefined;
  private readonly onAbort = (): void => this.raise(this.signal!.reason);
  private readonly signal: AbortSignal | undefined;

  constructor({ timeoutMs, signal }: Pick<ExecOptions, 'timeoutMs' | 'signal'>) {
    this.happened = new Promise<never>((_, reject) => (this.raise = reject));
    this.happened.catch(() => undefined);
    this.signal = signal;
    if (signal?.aborted) this.onAbort();
    signal?.addEventListener('abort', this.onAbort, { once: true });
    if (timeoutMs !== undefined) this.timer = setTimeout(() => this.raise(new ExecTimeout(timeoutMs)), Math.min(timeoutMs, 2 ** 31 - 1));
  }

  because(reason: unknown): void {
    this.raise(reason);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.signal?.removeEventListener('abort', this.onAbort);
  }
}
