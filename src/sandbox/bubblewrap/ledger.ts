/**
 * Who has sandboxes here, on disk before they are started, so that any process can find them whatever became of the one that made them. Nothing
 * is synced: after a crash of the machine there is nothing to find.
 */
import { mkdir, readFile, readdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxInfo, SandboxLabels } from '../provider.js';

export type LedgerEntry = Pick<SandboxInfo, 'id' | 'labels' | 'createdAt'>;

export class Ledger {
  private made: Promise<unknown> | undefined;

  constructor(private readonly folder: string) {}

  async add(entry: LedgerEntry): Promise<void> {
    this.made ??= mkdir(this.folder, { recursive: true });
    await this.made;
    await writeFile(this.path(entry.id), JSON.stringify(entry));
  }

  async remove(id: string): Promise<void> {
    await unlink(this.path(id)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }

  async has(id: string): Promise<boolean> {
    return isId(id) && (await this.read(`${id}.json`)) !== undefined;
  }

  async entries(): Promise<LedgerEntry[]> {
    const names = (await readdir(this.folder).catch(() => [])).filter((name) => name.endsWith('.json'));
    const entries = await Promise.all(names.map((name) => this.read(name)));
    return entries.filter((entry) => entry !== undefined);
  }

  /** One that is just being written counts with nothing known of it, and is read again soon. */
  private async read(name: string): Promise<LedgerEntry | undefined> {
    const text = await readFile(join(this.folder, name), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const id = name.slice(0, -'.json'.length);
    try {
      return { ...(JSON.parse(text) as LedgerEntry), id };
    } catch {
      return { id, labels: { owner: '', expires: 0 } satisfies SandboxLabels, createdAt: 0 };
    }
  }

  private path(id: string): string {
    return join(this.folder, `${id}.json`);
  }
}

/** Whether this can be a sandbox of ours: it becomes part of a path. */
export const isId = (id: string): boolean => /^bw-[0-9a-f]{16}$/.test(id);
