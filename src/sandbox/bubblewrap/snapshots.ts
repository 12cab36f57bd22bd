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
import type { ProviderSnapshot, SnapshotSizes } from '../provider.js';
import { isOwnerAlive } from '../owner.js';
import { diskFailure, removeTree, sizeOf } from './disk.js';
import type { Host } from './host.js';
import type { Root } from './roots.js';

/** How overlayfs marks what was removed: `trusted` needs privileges on the machine, `user` can be written by anyone. */
export type Marks = 'trusted' | 'user';

export interface Layer {
  /** The same in every snapshot that has it. */
  readonly id: string;
  /** On disk. */
  readonly bytes: number;
}

export interface Manifest {
  readonly root: Root;
  readonly layers: number;
  readonly marks: Marks;
  /** Lowest first. */
  readonly parts: readonly Layer[];
}

/** What a sandbox starts from: a snapshot, or a bare root. */
export interface Source extends Manifest {
  /** Folder of the snapshot; undefined for a bare root. */
  readonly folder?: string;
}

const REF = /^[0-9a-f]{12}$/;
export const newRef = (): string => randomBytes(6).toString('hex');

export class Snapshots {
  private readonly read = new Map<string, Source>();

  constructor(
    private readonly folder: string,
    private readonly host: Host,
  ) {}

  /** @throws SandboxError if the snapshot is gone */
  async source(snapshot: Pick<ProviderSnapshot, 'ref'>): Promise<Source> {
    const known = this.read.get(snapshot.ref);
    if (known) return known;
    const folder = this.path(snapshot.ref);
    const text = await readFile(join(folder, 'manifest.json'), 'utf8').catch((error: unknown) => {
      throw new SandboxError(`the snapshot ${snapshot.ref} is gone`, { cause: error });
    });
    const manifest = JSON.parse(text) as Omit<Manifest, 'parts'> & Partial<Manifest>;
    const source: Source = { ...manifest, parts: manifest.parts ?? Array.from({ length: manifest.layers }, (_, layer) => ({ id: `${snapshot.ref} ${layer}`, bytes: 0 })), folder };
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

  /** Renamed first: what dies in between leaves nothing that could be taken for a snapshot. */
  async remove(snapshot: ProviderSnapshot, owner: string): Promise<void> {
    this.read.delete(snapshot.ref);
    const going = this.partial(snapshot.ref, owner);
    const there = await rename(this.path(snapshot.ref), going).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false;
        throw error;
      },
    );
    if (there) await removeTree(going, this.host.chmod);
  }

  async sizes(snapshots: readonly ProviderSnapshot[]): Promise<SnapshotSizes> {
    const layers = new Map<string, { bytes: number; uses: number }>();
    const parts = new Map<string, readonly Layer[]>();
    for (const { ref } of snapshots) {
      const source = await this.source({ ref }).catch(() => undefined);
      if (!source) continue;
      parts.set(ref, source.parts);
      for (const { id, bytes } of source.parts) {
        const known = layers.get(id);
        if (known) known.uses += 1;
        else layers.set(id, { bytes, uses: 1 });
      }
    }
    const alone = (each: readonly Layer[]): number => each.reduce((sum, { id, bytes }) => sum + (layers.get(id)!.uses === 1 ? bytes : 0), 0);
    return { total: [...layers.values()].reduce((sum, { bytes }) => sum + bytes, 0), own: new Map([...parts].map(([ref, each]) => [ref, alone(each)])) };
  }

  /** Names of roots that some snapshot is based on. */
  async rootsInUse(): Promise<Set<string>> {
    const names = (await readdir(this.folder).catch(() => [])).filter((name) => REF.test(name));
    const sources = await Promise.all(names.map((ref) => this.source({ ref }).catch(() => undefined)));
    return new Set(sources.flatMap((source) => (source ? [source.root.name] : [])));
  }

  /** Makes a snapshot of `source` and a layer over it, which `fill` puts into the folder that it is given (which does not exist yet). */
  async add(source: Source, owner: string, fill: (layer: string) => Promise<void>, signal: AbortSignal): Promise<ProviderSnapshot> {
    await this.removeTorn();
    const ref = newRef();
    const partial = this.partial(ref, owner);
    await mkdir(partial, { recursive: true });
    try {
      for (let layer = 0; layer < source.layers; layer++) await this.link(join(source.folder!, `l${layer}`), join(partial, `l${layer}`), signal);
      const layer = join(partial, `l${source.layers}`);
      await fill(layer);
      signal.throwIfAborted();
      const parts = [...source.parts, { id: newRef(), bytes: await sizeOf(layer, this.host.du, signal) }];
      return await this.finish(ref, partial, { root: source.root, marks: source.marks, layers: source.layers + 1, parts });
    } finally {
      await removeTree(partial, this.host.chmod);
    }
  }

  /** Makes a snapshot of what `fill` puts into the folder that it is given: layers `l0`, `l1`, ... */
  async take(owner: string, fill: (folder: string) => Promise<Manifest>): Promise<ProviderSnapshot> {
    await this.removeTorn();
    const ref = newRef();
    const partial = this.partial(ref, owner);
    await mkdir(partial, { recursive: true, mode: 0o700 });
    try {
      return await this.finish(ref, partial, await fill(partial));
    } finally {
      await removeTree(partial, this.host.chmod);
    }
  }

  private async finish(ref: string, partial: string, manifest: Manifest): Promise<ProviderSnapshot> {
    await writeFile(join(partial, 'manifest.json'), JSON.stringify(manifest));
    const sizeBytes = manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0);
    await rename(partial, this.path(ref));
    return { provider: 'bubblewrap', kind: 'filesystem', ref, sizeBytes };
  }

  private async link(from: string, to: string, signal: AbortSignal): Promise<void> {
    const { code, stderr } = await runCommand(this.host.cp, ['-a', '-l', '-T', '--', from, to], { signal });
    if (code !== 0) throw diskFailure('a layer of the snapshot cannot be taken over', stderr);
  }

  /** Removes what processes left behind that died while they made a snapshot. */
  private async removeTorn(): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      const owner = /^[0-9a-f]+\.(.+)\.partial$/.exec(name)?.[1];
      if (owner !== undefined && !(await isOwnerAlive(owner.replaceAll('_', ':')))) await removeTree(join(this.folder, name), this.host.chmod);
    }
  }

  private partial(ref: string, owner: string): string {
    return `${this.path(ref)}.${owner.replaceAll(':', '_')}.partial`;
  }

  path(ref: string): string {
    if (!REF.test(ref)) throw new SandboxError(`"${ref}" is no snapshot of bubblewrap`);
    return join(this.folder, ref);
  }
}
