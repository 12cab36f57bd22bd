/** Snapshots with what they take and who uses them, by workspace folder; asked for again only when they may have changed. Knows nothing of VS Code. */
import type { SnapshotList, SnapshotReport } from '../runner/sandboxApi.js';
import { Disposing } from './dispose.js';
import type { Runner } from './runner.js';
import { Signal } from './signal.js';
import { Throttle } from './throttle.js';

export interface KnownSnapshot {
  readonly root: string;
  readonly snapshot: SnapshotReport;
}

export interface SnapshotsOptions {
  readonly runner: Pick<Runner, 'request' | 'on' | 'onStarted'>;
  readonly roots: () => readonly string[];
}

/** Measuring what they take reads folders. */
const LIST_MS = 1000;

export class Snapshots extends Disposing {
  private readonly lists = new Map<string, SnapshotList>();
  private readonly asking = new Map<string, Promise<SnapshotList>>();
  private readonly changed = this.own(new Signal<void>());
  /** What is known now. */
  readonly onDidChange = this.changed.event;
  /** Folders whose list may be out of date. */
  private readonly stale = new Set<string>();
  /** Views that a person looks at. */
  private readonly watchers = new Set<object>();
  private readonly throttle = this.own(new Throttle(LIST_MS, () => void this.list().catch(() => undefined)));

  constructor(private readonly options: SnapshotsOptions) {
    super();
    const { runner } = options;
    this.own(runner.on('changed', ({ root, kind }) => kind === 'snapshots' && this.invalidate(root)));
    this.own(runner.onStarted(() => this.invalidateAll()));
  }

  /** Whether a person looks at a view of them: only then are they asked for by themselves. */
  watch(view: object, watched: boolean): void {
    if (watched) this.watchers.add(view);
    else this.watchers.delete(view);
    if (watched) this.throttle.trigger();
  }

  invalidateAll(): void {
    for (const root of this.options.roots()) this.invalidate(root);
  }

  invalidate(root: string): void {
    this.stale.add(root);
    this.asking.delete(root);
    if (this.watchers.size > 0) this.throttle.trigger();
  }

  /** As last heard, newest first in each folder. */
  known(): readonly KnownSnapshot[] {
    return [...this.lists].flatMap(([root, { snapshots }]) => snapshots.map((snapshot) => ({ root, snapshot })));
  }

  isKnown(root: string): boolean {
    return this.lists.has(root);
  }

  /** Of all folders together, what several share counted once. */
  get totalBytes(): number {
    return [...this.lists.values()].reduce((sum, list) => sum + list.totalBytes, 0);
  }

  /** Asks where that is not known. Rejects with `RunnerError`. */
  async list(): Promise<readonly KnownSnapshot[]> {
    const roots = this.options.roots();
    for (const root of this.lists.keys()) if (!roots.includes(root)) this.lists.delete(root);
    await Promise.all(roots.map((root) => this.ask(root)));
    return this.known();
  }

  private async ask(root: string): Promise<void> {
    if (this.lists.has(root) && !this.stale.has(root)) return;
    let asking = this.asking.get(root);
    if (!asking) {
      this.stale.delete(root);
      asking = this.options.runner.request('snapshot/list', { root });
      this.asking.set(root, asking);
    }
    try {
      const list = await asking;
      // Asked for again since: that answer counts.
      if (this.asking.get(root) !== asking) return;
      this.lists.set(root, list);
      this.changed.fire();
    } catch (error) {
      this.stale.add(root);
      throw error;
    } finally {
      if (this.asking.get(root) === asking) this.asking.delete(root);
    }
  }
}
