/**
 * What a runner has begun to work on, on disk before it does: from it the next one knows where a runner that was killed has left something.
 * It is removed by a runner that ends in order.
 */
import { rm } from 'node:fs/promises';
import { readJson, writeJson } from '../store/json.js';

/** A folder, and the variables that lead to the providers which were used for it. */
export interface Site {
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
}

interface Content {
  /** Of runners, as in the labels of sandboxes. */
  readonly owners: readonly string[];
  readonly sites: readonly Site[];
}

const keyOf = (site: Site): string => JSON.stringify([site.root, site.environment]);

export class Journal {
  private readonly sites = new Map<string, Site>();
  private writing: Promise<void> = Promise.resolve();

  private constructor(
    private readonly file: string,
    private readonly owner: string,
    /** What runners that did not end in order have left to do. */
    private left: Content | undefined,
  ) {}

  static async open(file: string, owner: string): Promise<Journal> {
    const content = await readJson<Content>(file);
    const left = content && Array.isArray(content.owners) && Array.isArray(content.sites) && content.owners.length > 0 ? content : undefined;
    return new Journal(file, owner, left);
  }

  get inherited(): Content | undefined {
    return this.left;
  }

  /** Resolves when the site is on disk. */
  async add(site: Site): Promise<void> {
    const key = keyOf(site);
    if (!this.sites.has(key)) {
      this.sites.set(key, site);
      this.write();
    }
    await this.writing;
  }

  /** What was inherited is done with. */
  async settled(): Promise<void> {
    this.left = undefined;
    if (this.sites.size > 0) this.write();
    else await this.remove();
    await this.writing;
  }

  /** In order: nothing is left, unless what was inherited was not done with. */
  async close(): Promise<void> {
    this.sites.clear();
    await this.writing.catch(() => undefined);
    if (!this.left) await this.remove();
  }

  private remove(): Promise<void> {
    return rm(this.file, { force: true });
  }

  private write(): void {
    const write = () =>
      writeJson(this.file, {
        owners: [...(this.left?.owners ?? []), this.owner],
        sites: [...new Map([...(this.left?.sites ?? []), ...this.sites.values()].map((site) => [keyOf(site), site])).values()],
      } satisfies Content);
    this.writing = this.writing.then(write, write);
    this.writing.catch(() => undefined);
  }
}
