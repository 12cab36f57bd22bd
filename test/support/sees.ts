/** What comes about in its own time is waited for. */
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

/** How long: it costs where it does not come about, and a machine may be at much else. */
export const PATIENCE_MS = 30_000;

/** Looks until what is seen is what is expected; says how the two differ if it never is. */
export async function sees<T>(look: () => T | Promise<T>, expected: T, timeoutMs = PATIENCE_MS): Promise<void> {
  let seen = await look();
  for (const deadline = Date.now() + timeoutMs; !isDeepStrictEqual(seen, expected) && Date.now() < deadline; seen = await look()) await setTimeout(20);
  assert.deepEqual(seen, expected);
}
