/** What folders of sandboxes hold, for a tree: told at once as it was last seen, and looked at again behind that. Knows nothing of VS Code. */
import type { FileEntry } from '../../sandbox/provider.js';
import type { Runner } from '../runner.js';
import type { FileRef } from '../views/node.js';

interface Listing {
  readonly entries: readonly FileEntry[];
  readonly at: number;
}

/** How old a listing may be before it is asked for again. */
const FRESH_MS = 4000;

const key = ({ provider, id, path }: Pick<FileRef, 'provider' | 'id' | 'path'>): string => `${provider} ${id} ${path}`;

export class Listings {
  private readonly known = new Map<string, Listing>();
  private readonly asking = new Set<string>();

  constructor(
    private readonly runner: Pick<Runner, 'request'>,
    /** A folder holds something else than what was told. */
    private readonly changed: (folder: FileRef) => void,
  ) {}

  /** Rejects with `RunnerError` where nothing is known of it. */
  async list(folder: FileRef): Promise<readonly FileEntry[]> {
    const listing = this.known.get(key(folder));
    if (!listing) return this.ask(folder);
    if (performance.now() - listing.at > FRESH_MS) void this.askAgain(folder, listing);
    return listing.entries;
  }

  /** Something was done to it from here. */
  forget(folder: FileRef): void {
    this.known.delete(key(folder));
  }

  /** Those of sandboxes that are gone. */
  keep(isLive: (of: string) => boolean): void {
    for (const one of this.known.keys()) if (!isLive(one.split(' ', 2).join(' '))) this.known.delete(one);
  }

  private async ask(folder: FileRef): Promise<readonly FileEntry[]> {
    const { root, id, path } = folder;
    const entries = await this.runner.request('files/list', { root, id, path });
    this.known.set(key(folder), { entries, at: performance.now() });
    return entries;
  }

  private async askAgain(folder: FileRef, before: Listing): Promise<void> {
    const name = key(folder);
    if (this.asking.has(name)) return;
    this.asking.add(name);
    try {
      const entries = await this.ask(folder);
      if (JSON.stringify(entries) !== JSON.stringify(before.entries)) this.changed(folder);
    } catch {
      // It is gone, or the sandbox is: whoever looks next is told why.
      this.known.delete(name);
      this.changed(folder);
    } finally {
      this.asking.delete(name);
    }
  }
}
