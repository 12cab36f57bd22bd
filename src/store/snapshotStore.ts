/** The registry of snapshots: one small file each. What they consist of lies with their provider. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readJson, writeJson } from './json.js';
import type { Layout } from './layout.js';
import type { DeletedSnapshot, SnapshotRecord } from './records.js';

export class SnapshotStore {
  constructor(readonly layout: Layout) {}

  /** Newest first, without those that only a fork needs. */
  async list(): Promise<SnapshotRecord[]> {
    return (await this.all()).filter(({ temporary }) => temporary === undefined);
  }

  async temporaries(): Promise<SnapshotRecord[]> {
    return (await this.all()).filter(({ temporary }) => temporary !== undefined);
  }

  /** Rejects with one sentence if there is no such snapshot, which says what became of one that was deleted. */
  async find(id: string): Promise<SnapshotRecord> {
    const record = await readJson<SnapshotRecord>(this.layout.snapshotFile(id));
    if (record?.id !== undefined) return record;
    const deleted = await readJson<DeletedSnapshot>(this.layout.deletedSnapshotFile(id));
    if (!deleted) throw new Error(`there is no snapshot ${id} in ${this.layout.base}`);
    const runs = deleted.usedBy.map(({ number }) => `#${number}`).join(', ');
    throw new Error(`the snapshot ${id} of ${deleted.template} was deleted on ${new Date(deleted.deletedAt).toISOString().slice(0, 10)}${runs ? `; it was used by run ${runs}` : ''}`);
  }

  /** Keeps of a deleted one what it was used by. */
  async bury(deleted: DeletedSnapshot): Promise<void> {
    const file = this.layout.deletedSnapshotFile(deleted.id);
    await mkdir(dirname(file), { recursive: true });
    await writeJson(file, deleted);
  }

  private async all(): Promise<SnapshotRecord[]> {
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
