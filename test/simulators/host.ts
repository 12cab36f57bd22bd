/** What simulators run on: sandboxes of this machine, by the bubblewrap provider. */
import { currentOwner } from '../../src/sandbox/owner.js';
import type { Resources, SandboxSpec } from '../../src/sandbox/provider.js';

/** A service counts the life of its sandboxes itself. */
const UNBOUNDED_MS = 86_400_000;

export async function specOf(env: Readonly<Record<string, string>>, resources: Resources, network: 'none' | 'full'): Promise<SandboxSpec> {
  const labels = { owner: await currentOwner(), run: 'simulator', expires: Date.now() + UNBOUNDED_MS };
  return { labels, resources, env, network, workdir: '/root', lifetimeMs: UNBOUNDED_MS };
}
