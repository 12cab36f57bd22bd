/** The registry of snapshots: one small file each. What they consist of lies with their provider. */
import { readdir, rm } from 'node:fs/promises';
import { readJson, writeJson } from './json.js';
import type { Layout } from './layout.js';
import type { SnapshotRecord } from './records.js';

export class SnapshotStore {
  constructor(readonly layout: Layout) {}

  /** Newest first. */
  async list(): Promise<SnapshotRecord[]> {
    const names = (await readdir(this.layout.snapshots).catch(() => [] as string[])).filter((name) => /^[A-Za-z0-9].*\.json$/.test(name));
    const records = await Promise.all(names.map((name) => readJson<SnapshotRecord>(this.layout.snapshotFile(name.slice(0, -5)))));
    return records.filter((record): record is SnapshotRecord => record?.id !== undefined).sort((a, b) => b.createdAt - a.createdAt);
  }

  async save(record: SnapshotRecord): Promise<void> {
    await this.layout.prepare();
    await writeJson(this.layout.snapshotFile(record.id), record);
  }

  async remove(id: string): Promise<void> {
    await rm(this.layout.snapshotFile(id), { force: true });
  }
}
