/** Snapshots of sandboxes that live. */
import { randomBytes } from 'node:crypto';
import { Unsupported } from '../../sandbox/errors.js';
import type { Sandbox, SnapshotKind } from '../../sandbox/provider.js';
import type { SnapshotRecord } from '../../store/records.js';
import type { Engine } from '../engine.js';
import type { Making } from '../sandboxes/held.js';

/** Takes one and writes it down. Rejects as the provider does; then nothing is kept. */
export async function takeSnapshot(
  engine: Engine,
  sandbox: Sandbox,
  { provider, snapshot: parent, spec, secrets }: Making,
  kind: SnapshotKind,
  more: Pick<SnapshotRecord, 'name' | 'note' | 'temporary'>,
  signal: AbortSignal,
): Promise<SnapshotRecord> {
  const names = Object.keys(secrets);
  if (kind === 'memory' && names.length > 0) throw new Unsupported(`a memory snapshot would keep what the sandbox's processes hold, its secrets (${names.join(', ')}) too: snapshot its files, or open it from a template without secrets`);
  const started = Date.now();
  const made = await sandbox.snapshot(kind, { signal });
  const { template, file, digest, parts, base } = parent;
  const env = Object.fromEntries(Object.entries(spec.env).filter(([name]) => !(name in secrets)));
  const record: SnapshotRecord = {
    ...made,
    ...{ template, file, digest, parts, base },
    ...more,
    id: newSnapshotId(digest),
    origin: 'sandbox',
    // What a fork was made from is gone with it.
    parent: parent.temporary === undefined ? parent.id : parent.parent,
    settings: { ...spec, env },
    createdAt: Date.now(),
    buildMs: Date.now() - started,
  };
  try {
    await engine.snapshots.save(record);
  } catch (error) {
    await provider.removeSnapshot(made).catch(() => undefined);
    throw error;
  }
  return record;
}

export const newSnapshotId = (digest: string): string => `${digest.slice(0, 8)}-${Date.now().toString(36)}${randomBytes(2).toString('hex')}`;
