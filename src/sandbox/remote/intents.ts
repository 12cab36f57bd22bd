/**
 * Notes on disk of sandboxes that are about to be created, by our own ids. One whose creation was never answered may come to be all the same: as
 * long as its note is there, whoever reaps ends it by that id, or by the service's name that it was to be created under.
 */
import { renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxLabels } from '../provider.js';

export interface Intent {
  readonly id: string;
  readonly labels: SandboxLabels;
  /** What tells it from others at the service, where that takes no id of ours. */
  readonly known?: string;
  /** The service's own name of it, once it is known. */
  readonly there?: string;
  /** Whether others at the service are `known` by the same. */
  readonly shared?: true;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Longest that a service may take to create what it has not answered for. */
const OPEN_MS = 180_000;

/** Whether nothing can come of it any more. */
export const isOver = ({ at }: Intent, now = Date.now()): boolean => at + OPEN_MS < now;

export class Intents {
  constructor(private readonly folder: string) {}

  async add(id: string, labels: SandboxLabels, about: Pick<Intent, 'known' | 'there' | 'shared'> = {}): Promise<void> {
    const partial = `${this.file(id)}.partial`;
    // A note is written sooner than another thread is asked to. It may be there already, and whoever dies in the middle leaves that.
    const write = (): void => {
      writeFileSync(partial, JSON.stringify({ id, labels, ...about, at: Date.now() } satisfies Intent), { mode: 0o600 });
      renameSync(partial, this.file(id));
    };
    try {
      write();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      write();
    }
  }

  /** What came of it is known. */
  settle(id: string): Promise<void> {
    try {
      unlinkSync(this.file(id));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return Promise.reject(error);
    }
    return Promise.resolve();
  }

  /** The time is over in which something may still come of it. */
  async expire(id: string, now = Date.now()): Promise<void> {
    const intent = await this.read(id);
    if (intent && isOver(intent, now)) await this.settle(id);
  }

  async all(): Promise<Intent[]> {
    const names = await readdir(this.folder).catch(() => []);
    const found = await Promise.all(names.flatMap((name) => (name.endsWith('.json') ? [this.read(name.slice(0, -5))] : [])));
    return found.filter((each) => each !== undefined);
  }

  async read(id: string): Promise<Intent | undefined> {
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
