/**
 * Notes on disk of sandboxes that are about to be created, by our own ids. One whose creation was never answered may come to be all the same: as
 * long as its note is there, whoever reaps ends it by that id.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxLabels } from '../provider.js';

export interface Intent {
  readonly id: string;
  readonly labels: SandboxLabels;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Longest that the service may take to create what it has not answered for. */
const OPEN_MS = 180_000;

export class Intents {
  constructor(private readonly folder: string) {}

  async add(id: string, labels: SandboxLabels): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await writeFile(this.file(id), JSON.stringify({ id, labels, at: Date.now() } satisfies Intent), { mode: 0o600 });
  }

  /** What came of it is known. */
  async settle(id: string): Promise<void> {
    await rm(this.file(id), { force: true });
  }

  /** The time is over in which something may still come of it. */
  async expire(id: string, now = Date.now()): Promise<void> {
    const intent = await this.read(id);
    if (intent && intent.at + OPEN_MS < now) await this.settle(id);
  }

  async all(): Promise<Intent[]> {
    const names = await readdir(this.folder).catch(() => []);
    const found = await Promise.all(names.flatMap((name) => (name.endsWith('.json') ? [this.read(name.slice(0, -5))] : [])));
    return found.filter((each) => each !== undefined);
  }

  private async read(id: string): Promise<Intent | undefined> {
    try {
      return JSON.parse(await readFile(this.file(id), 'utf8')) as Intent;
    } catch {
      return undefined;
    }
  }

  private file(id: string): string {
    return join(this.folder, `${id}.json`);
  }
}
