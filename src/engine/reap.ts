/** Ends what a dead process left behind. */
import { isOwnerAlive } from '../sandbox/owner.js';
import type { Provider, SandboxInfo } from '../sandbox/provider.js';

const REAP_TIMEOUT_MS = 60_000;

/**
 * Returns what was ended. A provider that does not answer is passed over: there is a next time. A sandbox that runs and whose owner lives is never
 * touched: its time is counted by its owner, and by the sandbox itself, on a clock that only goes forward, and the machine's own may have been set.
 */
export async function reap(providers: readonly Provider[], now = Date.now()): Promise<SandboxInfo[]> {
  const ended: SandboxInfo[] = [];
  const alive = new Map<string, Promise<boolean>>();
  const isAlive = (owner: string) => {
    if (!alive.has(owner)) alive.set(owner, isOwnerAlive(owner));
    return alive.get(owner)!;
  };
  for (const provider of providers) {
    const found = await provider.list({ timeoutMs: REAP_TIMEOUT_MS }).catch(() => []);
    for (const sandbox of found) {
      if ((sandbox.state === 'running' || sandbox.labels.expires > now) && (await isAlive(sandbox.labels.owner))) continue;
      await provider.terminate(sandbox.id, { timeoutMs: REAP_TIMEOUT_MS }).then(
        () => ended.push(sandbox),
        () => undefined,
      );
    }
  }
  return ended;
}
