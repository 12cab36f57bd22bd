/** Waiting between attempts: exponential, with full jitter so that many do not come back at once. */
import { setTimeout as sleep } from 'node:timers/promises';

export const MAX_ATTEMPTS = 3;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;

/** Waits before attempt `attempt` (2 or more). Rejects with the signal's reason. */
export async function backOff(attempt: number, signal: AbortSignal): Promise<void> {
  const bound = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 2));
  await sleep(bound * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => signal.throwIfAborted());
}
