/**
 * Follows on disk the runs of one folder that other processes carry out, while somebody looks: by the system's notices of change, and by a slow
 * look of its own for what those miss (network file systems, a process that died without a word).
 */
import { watch, type FSWatcher } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isOwnerAlive } from '../sandbox/owner.js';
import { Layout } from '../store/layout.js';
import { RunStore } from '../store/runStore.js';

const POLL_MS = 5000;

export interface RunWatcherOptions {
  /** Whether this process carries out the run: it needs no watching. */
  readonly mine: (id: string) => boolean;
  readonly changed: (kind: 'run' | 'runs' | 'snapshots', id?: string) => void;
}

interface Followed {
  readonly watcher: FSWatcher | undefined;
  /** Size and time of its files when last looked at. */
  seen: string;
}

export class RunWatcher {
  private readonly layout: Layout;
  private readonly store: RunStore;
  private readonly folders = new Map<string, FSWatcher>();
  private readonly followed = new Map<string, Followed>();
  private known: Set<string> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private again = false;
  private closed = false;

  constructor(
    root: string,
    private readonly options: RunWatcherOptions,
  ) {
    this.layout = new Layout(root);
    this.store = new RunStore(this.layout);
    this.look();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    for (const watcher of this.folders.values()) watcher.close();
    for (const { watcher } of this.followed.values()) watcher?.close();
    this.folders.clear();
    this.followed.clear();
  }

  /** Looks now, or once more after the look that goes on. */
  private look(): void {
    if (this.closed) return;
    if (this.looking) {
      this.again = true;
      return;
    }
    clearTimeout(this.timer);
    this.looking = this.lookOnce()
      .catch(() => undefined)
      .then(() => {
        this.looking = undefined;
        if (this.closed) return;
        if (this.again) {
          this.again = false;
          this.look();
        } else this.timer = setTimeout(() => this.look(), POLL_MS);
      });
  }

  private async lookOnce(): Promise<void> {
    await this.watchFolders();
    const names = new Set((await readdir(this.layout.runs).catch(() => [])).filter((name) => /^[A-Za-z0-9]/.test(name)));
    const before = this.known;
    const fresh = [...names].filter((name) => !before?.has(name));
    this.known = names;
    for (const name of fresh) await this.consider(name);
    if (before && (fresh.some((name) => !this.options.mine(name)) || [...before].some((name) => !names.has(name)))) this.options.changed('runs');
    for (const name of this.followed.keys()) await this.check(name);
  }

  /** The folders that exist: new runs and new snapshots appear in two of them, which appear in the others. */
  private async watchFolders(): Promise<void> {
    const { runs, snapshots, base } = this.layout;
    for (const folder of [runs, snapshots]) {
      let nearest = folder;
      while (!(await exists(nearest)) && nearest !== dirname(base)) nearest = dirname(nearest);
      this.watchFolder(nearest);
    }
    // What stood in for a folder that is there now is watched no more.
    if ((await exists(runs)) && (await exists(snapshots))) for (const folder of [base, dirname(base)]) this.unwatch(folder);
  }

  private watchFolder(folder: string): void {
    if (this.closed || this.folders.has(folder)) return;
    const { runs, snapshots, base } = this.layout;
    const watcher = tryWatch(folder, (name) => {
      if (folder === dirname(base) && name !== null && name !== basename(base)) return;
      if (folder === snapshots) {
        if (name === null || name.endsWith('.json')) this.options.changed('snapshots');
      } else if (folder !== runs || name === null || !this.known?.has(name)) this.look();
      else if (!this.followed.has(name)) this.look();
    }, () => this.unwatch(folder));
    if (watcher) this.folders.set(folder, watcher);
  }

  private unwatch(folder: string): void {
    this.folders.get(folder)?.close();
    this.folders.delete(folder);
  }

  /** Begins to follow a run, if it goes on in another process or has no record yet. */
  private async consider(id: string): Promise<void> {
    if (this.options.mine(id)) return;
    const run = await this.store.read(id).catch(() => undefined);
    if (this.closed || (run && run.state !== 'running' && run.state !== 'building')) return;
    if (run && !(await isOwnerAlive(run.owner))) return;
    const watcher = tryWatch(this.layout.run(id), () => void this.check(id), () => undefined);
    this.followed.set(id, { watcher, seen: '' });
  }

  private async check(id: string): Promise<void> {
    const followed = this.followed.get(id);
    if (!followed) return;
    const seen = await fingerprint([this.layout.runFile(id), this.layout.episodesFile(id)]);
    if (seen !== followed.seen) {
      followed.seen = seen;
      this.options.changed('run', id);
    }
    const run = await this.store.read(id).catch(() => undefined);
    if (run ? (run.state === 'running' || run.state === 'building') && (await isOwnerAlive(run.owner)) : await exists(this.layout.run(id))) return;
    followed.watcher?.close();
    if (!this.followed.delete(id)) return;
    this.options.changed('run', id);
    this.options.changed('runs');
  }
}

const exists = (path: string): Promise<boolean> => access(path).then(() => true, () => false);

async function fingerprint(files: readonly string[]): Promise<string> {
  const found = await Promise.all(files.map((file) => stat(file).then(({ size, mtimeMs }) => `${size} ${mtimeMs}`, () => '')));
  return found.join(' ');
}

/** Undefined where the system has no more watches to give, or the folder has gone: the slow look goes on. */
function tryWatch(folder: string, changed: (name: string | null) => void, gone: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => changed(name));
    watcher.on('error', () => {
      watcher.close();
      gone();
    });
    return watcher;
  } catch {
    return undefined;
  }
}
