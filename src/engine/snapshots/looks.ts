/** Snapshots that somebody looks into: each is restored once, read from, and ended soon after. Whoever deletes one ends the look first. */
import { LONGEST_LIFE_MS } from '../../rollout/episode.js';
import type { Sandbox } from '../../sandbox/provider.js';
import type { Engine } from '../engine.js';
import { Reader } from '../sandboxes/reader.js';

export class Looks {
  private readonly readers = new Map<string, Reader>();

  /** A sandbox of it in which nothing of the template runs. Rejects as `SnapshotStore.find` and the provider do. */
  async into(engine: Engine, id: string): Promise<Sandbox> {
    engine.held.closing.throwIfAborted();
    let reader = this.readers.get(id);
    if (!reader) this.readers.set(id, (reader = new Reader(() => restore(engine, id))));
    return reader.sandbox();
  }

  /** Of the sandboxes. */
  ids(): string[] {
    return [...this.readers.values()].flatMap(({ id }) => id ?? []);
  }

  async end(id: string): Promise<void> {
    const reader = this.readers.get(id);
    this.readers.delete(id);
    await reader?.end();
  }

  async close(): Promise<void> {
    await Promise.all([...this.readers.keys()].map((id) => this.end(id)));
  }
}

async function restore(engine: Engine, id: string): Promise<Sandbox> {
  const letGo = engine.uses.hold(id);
  try {
    const snapshot = await engine.snapshots.find(id);
    const { template, digest, kind, settings } = snapshot;
    const provider = await engine.providers.get(snapshot.provider);
    const labels = { owner: engine.owner, template, digest, snapshot: id, expires: Date.now() + LONGEST_LIFE_MS };
    // Processes of a memory snapshot cannot be given another network or another user than they had.
    const network = kind === 'memory' ? (settings?.network ?? 'none') : 'none';
    const spec = { resources: {}, env: {}, ...(kind === 'memory' && { isolation: settings?.isolation, user: settings?.user, writable: settings?.writable }), network };
    const sandbox = await provider.restore(snapshot, { ...spec, labels, lifetimeMs: LONGEST_LIFE_MS }, { signal: engine.held.closing });
    // They would go on to change what is looked at.
    if (kind === 'memory') await sandbox.killAll();
    return sandbox;
  } finally {
    letGo();
  }
}
