/** Waits that always end. */
import type { Readable } from 'node:stream';
import { OperationTimeout } from './errors.js';
import type { OperationOptions } from './provider.js';

/**
 * Runs `work` until it settles, `options.signal` fires (rejects with its reason) or the deadline passes (`OperationTimeout`). `work` is
 * given a signal for both; what it does after that is no longer waited for. `operation` begins a sentence: "Restoring the sandbox".
 */
export async function within<T>(operation: string, options: OperationOptions | undefined, defaultMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const outer = options?.signal;
  outer?.throwIfAborted();
  const timeoutMs = options?.timeoutMs ?? defaultMs;
  const controller = new AbortController();
  let interrupt!: (reason: unknown) => void;
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = (reason) => {
      reject(reason);
      controller.abort(reason);
    };
  });
  const onAbort = (): void => interrupt(outer!.reason);
  outer?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => interrupt(new OperationTimeout(operation, timeoutMs)), timeoutMs);
  try {
    const running = work(controller.signal);
    running.catch(() => undefined);
    return await Promise.race([running, interrupted]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', onAbort);
  }
}

/** Destroys a stream with the error if the signal fires or the deadline passes before it has closed. */
export function bound<S extends Readable>(stream: S, operation: string, options: OperationOptions | undefined, defaultMs: number): S {
  const timeoutMs = options?.timeoutMs ?? defaultMs;
  const signal = options?.signal;
  const onAbort = (): void => void stream.destroy(signal!.reason instanceof Error ? signal!.reason : new Error(String(signal!.reason)));
  const timer = setTimeout(() => stream.destroy(new OperationTimeout(operation, timeoutMs)), timeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  stream.once('close', () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  });
  if (signal?.aborted) onAbort();
  return stream;
}
