import type { Sandbox } from '../sandbox/provider.js';

const TERMINATE_TIMEOUT_MS = 30_000;

/**
 * Ends a sandbox whatever happened before. It is not aborted by whoever cancelled, and it does not throw: what it could not end is
 * found by its labels and reaped later.
 */
export async function discard(sandbox: Sandbox): Promise<void> {
  await sandbox.terminate({ timeoutMs: TERMINATE_TIMEOUT_MS }).catch(() => undefined);
}
