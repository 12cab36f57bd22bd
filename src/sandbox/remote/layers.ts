/** What snapshots take, which the service does not tell: each knows what was written for it, and for those that it is based on. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError } from '../errors.js';
import type { ProviderSnapshot, SnapshotSizes } from '../provider.js';

export interface Layer {
  readonly id: string;
  readonly bytes: number;
}

/** What a snapshot's `ref` says: the service's own name, the mark that it leaves inside, and the memory of its machines in MiB where it fixes that. */
export interface Reference {
  readonly snapshotId: string;
  readonly mark: string;
  readonly memoryMB?: number;
}

export const refOf = ({ snapshotId, mark, memoryMB }: Reference): string => [snapshotId, mark, ...(memoryMB === undefined ? [] : [memoryMB])].join(' ');

/** @throws SandboxError for what is none */
export function readRef(ref: string): Reference {
  const [, snapshotId, mark, memoryMB] = /^(\S+) ([0-9a-f]{32})(?: (\d+))?$/.exec(ref) ?? [];
  if (snapshotId === undefined) throw new SandboxError(`"${ref.slice(0, 100)}" is no snapshot of a service`);
  return { snapshotId, mark: mark!, memoryMB: memoryMB === undefined ? undefined : Number(memoryMB) };
}

export class Layers {
  constructor(private readonly folder: string) {}

  async add(snapshotId: string, below: readonly Layer[], bytes: number): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await writeFile(this.file(snapshotId), JSON.stringify([...below, { id: snapshotId, bytes }]));
  }

  /** Of one that another machine has taken nothing is known. */
  async of(snapshotId: string): Promise<Layer[]> {
    try {
      return JSON.parse(await readFile(this.file(snapshotId), 'utf8')) as Layer[];
    } catch {
      return [];
    }
  }

  remove(snapshotId: string): Promise<void> {
    return rm(this.file(snapshotId), { force: true });
  }

  async sizes(snapshots: readonly ProviderSnapshot[]): Promise<SnapshotSizes> {
    const all = await Promise.all(snapshots.map(async ({ ref }) => ({ ref, layers: await this.of(readRef(ref).snapshotId) })));
    const uses = new Map<string, number>();
    const bytes = new Map<string, number>();
    for (const layer of all.flatMap(({ layers }) => layers)) {
      uses.set(layer.id, (uses.get(layer.id) ?? 0) + 1);
      bytes.set(layer.id, layer.bytes);
    }
    const own = new Map(all.map(({ ref, layers }) => [ref, layers.reduce((sum, { id, bytes: size }) => sum + (uses.get(id) === 1 ? size : 0), 0)]));
    return { total: [...bytes.values()].reduce((sum, size) => sum + size, 0), own };
  }

  private file(snapshotId: string): string {
    return join(this.folder, `${snapshotId.replaceAll(/[^A-Za-z0-9_-]/g, '_')}.json`);
  }
}
