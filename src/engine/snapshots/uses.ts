/** Which snapshots are in use in this process, so that none is deleted under whoever restores from it. */

export class SnapshotInUse extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SnapshotInUse';
  }
}

export class SnapshotUses {
  private readonly counts = new Map<string, number>();
  private readonly deleting = new Set<string>();

  /** Notes a use; what it gives ends it, once. Throws if the snapshot is just being deleted. */
  hold(id: string): () => void {
    if (this.deleting.has(id)) throw new SnapshotInUse(`the snapshot ${id} is just being deleted`);
    this.counts.set(id, (this.counts.get(id) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = this.counts.get(id)! - 1;
      if (left > 0) this.counts.set(id, left);
      else this.counts.delete(id);
    };
  }

  /** Does `work` with nobody beginning to use it meanwhile. Rejects if it is in use. */
  async during<T>(id: string, work: () => Promise<T>): Promise<T> {
    const uses = this.counts.get(id) ?? 0;
    if (uses > 0) throw new SnapshotInUse(`the snapshot ${id} is in use: a run restores from it, or a sandbox lives on it; end those first`);
    if (this.deleting.has(id)) throw new SnapshotInUse(`the snapshot ${id} is already being deleted`);
    this.deleting.add(id);
    try {
      return await work();
    } finally {
      this.deleting.delete(id);
    }
  }
}
