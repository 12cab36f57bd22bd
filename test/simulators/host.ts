/** What simulators run on: sandboxes of this machine. They are bubblewrap's, or Podman's where processes are to be copied, which CRIU does there. */
import { ensurePodman } from '../../scripts/setup/podman.mjs';
import { createProvider as createBubblewrap } from '../../src/sandbox/bubblewrap/index.js';
import { currentOwner } from '../../src/sandbox/owner.js';
import { createProvider as createPodman } from '../../src/sandbox/podman/index.js';
import type { BaseImage, Provider, Resources, SandboxSpec } from '../../src/sandbox/provider.js';

export interface Host {
  readonly provider: Provider;
  /** What stands for whatever image is named. */
  readonly base: BaseImage;
  /** A sandbox of the base ends with the first snapshot of it. */
  readonly baseEnds?: true;
  readonly close: () => Promise<void>;
}

/** Podman is the one that CONTAINER_HOST names, or one that `close` ends if this has started it. Rejects with why there is none. */
export async function openHost(kind: 'bubblewrap' | 'podman', stateDir: string): Promise<Host> {
  const context = { stateDir, log: () => undefined };
  if (kind === 'bubblewrap') {
    const provider = createBubblewrap(context);
    return { provider, base: {}, baseEnds: true, close: () => provider.close() };
  }
  const { missing, noCheckpoints, host, baseImage, stop } = await ensurePodman();
  if (host === undefined || baseImage === undefined || noCheckpoints !== undefined) {
    await stop();
    throw new Error(missing ?? noCheckpoints);
  }
  const provider = createPodman({ ...context, environment: { ...process.env, CONTAINER_HOST: host } });
  return { provider, base: { image: baseImage }, close: () => provider.close().finally(stop) };
}

/** A service counts the life of its sandboxes itself. */
const UNBOUNDED_MS = 86_400_000;

export async function specOf(env: Readonly<Record<string, string>>, resources: Resources, network: 'none' | 'full'): Promise<SandboxSpec> {
  const labels = { owner: await currentOwner(), run: 'simulator', expires: Date.now() + UNBOUNDED_MS };
  return { labels, resources, env, network, workdir: '/root', lifetimeMs: UNBOUNDED_MS };
}
