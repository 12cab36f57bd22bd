/** Snapshots out into a file and in from one. */
import { resolve } from 'node:path';
import { ProviderUnavailable } from '../../sandbox/errors.js';
import { PROVIDERS } from '../../sandbox/registry.js';
import type { SnapshotRecord } from '../../store/records.js';
import type { Engine } from '../engine.js';
import { readSnapshotFile, writeSnapshotFile } from './file.js';
import { newSnapshotId } from './take.js';

/** Resolves with the bytes of the file, which takes the place of one that is there. */
export async function exportSnapshot(engine: Engine, id: string, file: string, signal: AbortSignal): Promise<number> {
  const record = await engine.snapshots.find(id);
  const letGo = engine.uses.hold(id);
  try {
    const { provider, kind, template, digest, parts, base, createdAt, name, note, settings } = record;
    const payload = await (await engine.providers.get(provider)).exportSnapshot(record, { signal });
    return await writeSnapshotFile(resolve(file), { provider, kind, template, digest, parts, base, createdAt, name, note, settings }, payload, signal);
  } finally {
    letGo();
  }
}

/** Rejects with `SnapshotFileError`, or as the provider does; then nothing is kept. */
export async function importSnapshot(engine: Engine, file: string, signal: AbortSignal): Promise<SnapshotRecord> {
  const { manifest, payload } = await readSnapshotFile(resolve(file));
  try {
    const entry = PROVIDERS.find(({ id }) => id === manifest.provider);
    if (!entry) throw new ProviderUnavailable(`the snapshot was made by the provider "${manifest.provider}", which this version does not have`, `the providers are ${PROVIDERS.map(({ id }) => id).join(', ')}`);
    const provider = await engine.providers.get(entry.id);
    await engine.layout.prepare();
    const made = await provider.importSnapshot(payload, manifest.kind, { signal });
    const record: SnapshotRecord = { ...manifest, ...made, id: newSnapshotId(manifest.digest), file: '', origin: 'import', createdAt: Date.now(), buildMs: 0 };
    try {
      await engine.snapshots.save(record);
    } catch (error) {
      await provider.removeSnapshot(made).catch(() => undefined);
      throw error;
    }
    return record;
  } finally {
    payload.destroy();
  }
}
