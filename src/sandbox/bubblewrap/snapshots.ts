/**
 * Snapshots as overlay layers. A snapshot is one folder that needs no other: `manifest.json`, and for each layer, lowest first, a folder
 * `l0`, `l1`, ... with `root` and, for each folder of the host that is completed, `t0`, `t1`, ... A layer that is taken over from
 * another snapshot is made of hard links: lower layers are never written to.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../command.js';
import { SandboxError } from '../errors.js';
import type { ProviderSnapshot } from '../provider.js';
import { isOwnerAlive } from '../owner.js';
import { removeTree, sizeOf } from './disk.js';
import type { Host } from './host.js';
import type { Root } from './roots.js';

/** How overlayfs marks what was removed: `trusted` needs privileges on the machine, `user` can be written by anyone. */
export type Marks = 'trusted' | 'user';

export interface Manifest {
  readonly root: Root;
  readonly layers: number;
  readonly marks: Marks;
}

/** What a sandbox starts from: a snapshot, or a bare root. */
export interface Source extends Manifest {
  /** Folder of the snapshot; undefined for a bare root. */
  readonly folder?: string;
}

export class Snapshots {
  private readonly read = new Map<string, Source>();

  constructor(
    private readonly folder: string,
    private readonly host: Host,
  ) {}

  /** @throws SandboxError if the snapshot is gone */
  async source(snapshot: ProviderSnapshot): Promise<Source> {
    const known = this.read.get(snapshot.ref);
    if (known) return known;
    const folder = this.path(snapshot.ref);
    const text = await readFile(join(folder, 'manifest.json'), 'utf8').catch((error: unknown) => {
      throw new SandboxError(`the snapshot ${snapshot.ref} is gone`, { cause: error });
    });
    const source = { ...(JSON.parse(text) as Manifest), folder };
    this.read.set(snapshot.ref, source);
    return source;
  }

  /** Whether it is there, was made with the same kind of marks, and its root is there. */
  async has(snapshot: ProviderSnapshot, marks: Marks, roots: string): Promise<boolean> {
    try {
      this.read.delete(snapshot.ref);
      const source = await this.source(snapshot);
      // Through the link, for a root that is a folder of the host.
      return source.marks === marks && (await stat(join(roots, source.root.name, 'fs'))).isDirectory();
    } catch {
      return false;
    }
  }

  async remove(snapshot: ProviderSnapshot): Promise<void> {
    this.read.delete(snapshot.ref);
    await removeTree(this.path(snapshot.ref), this.host.chmod);
  }

  /** Makes a snapshot of `source` and a layer over it, which `fill` puts into the folder that it is given (which does not exist yet). */
  async add(source: Source, owner: string, fill: (layer: string) => Promise<void>, signal: AbortSignal): Promise<ProviderSnapshot> {
    await this.removeTorn();
    const ref = randomBytes(6).toString('hex');
    const partial = `${this.path(ref)}.${owner.replaceAll(':', '_')}.partial`;
    await mkdir(partial, { recursive: true });
    try {
      for (let layer = 0; layer < source.layers; layer++) await this.link(join(source.folder!, `l${layer}`), join(partial, `l${layer}`), signal);
      await fill(join(partial, `l${source.layers}`));
      signal.throwIfAborted();
      const manifest: Manifest = { root: source.root, marks: source.marks, layers: source.layers + 1 };
      await writeFile(join(partial, 'manifest.json'), JSON.stringify(manifest));
      const sizeBytes = await sizeOf(partial, this.host.du, signal);
      await rename(partial, this.path(ref));
      return { provider: 'bubblewrap', kind: 'filesystem', ref, sizeBytes };
    } finally {
      await removeTree(partial, this.host.chmod);
    }
  }

  private async link(from: string, to: string, signal: AbortSignal): Promise<void> {
    const { code, stderr } = await runCommand(this.host.cp, ['-a', '-l', '-T', '--', from, to], { signal });
    if (code !== 0) throw new SandboxError(`a layer of the snapshot cannot be taken over: ${stderr.trim()}`);
  }

  /** Removes what processes left behind that died while they made a snapshot. */
  private async removeTorn(): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      const owner = /^[0-9a-f]+\.(.+)\.partial$/.exec(name)?.[1];
      if (owner !== undefined && !(await isOwnerAlive(owner.replaceAll('_', ':')))) await removeTree(join(this.folder, name), this.host.chmod);
    }
  }

  private path(ref: string): string {
    if (!/^[0-9a-f]{12}$/.test(ref)) throw new SandboxError(`"${ref}" is no snapshot of bubblewrap`);
    return join(this.folder, ref);
  }
}
