import { fail } from './failure.js';

/** Longest delay that a timer takes; a longer one would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/**
 * Runs `work` under a deadline: its signal aborts when the outer one does, or when time is up, and then it fails with
 * `timed-out`, of which `what` is the subject. Rejects with the outer signal's reason if that aborts.
 */
export async function withDeadline<T>(outer: AbortSignal, timeoutMs: number, what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  outer.throwIfAborted();
  const controller = new AbortController();
  const relay = () => controller.abort(outer.reason);
  // Not `AbortSignal.any`: the outer signal lives as long as the run, and what hangs on it must be taken off again.
  outer.addEventListener('abort', relay, { once: true });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    controller.abort(new DOMException(`${what} did not end in time`, 'TimeoutError'));
  }, Math.min(timeoutMs, LONGEST_DELAY_MS));
  try {
    return await work(controller.signal);
  } catch (error) {
    outer.throwIfAborted();
    if (late) fail('timed-out', `${what} did not end within ${timeoutMs / 1000} s`);
    throw error;
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', relay);
  }
}
