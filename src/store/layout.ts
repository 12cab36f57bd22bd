/** Where things lie under `.rlenv/`, and nothing else. */
import { access, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

const STORE_FOLDER = '.rlenv';

/** Ids name folders: whatever else is asked for by id is refused before it becomes a path. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

function checkId(id: string): string {
  if (!ID.test(id)) throw new Error(`"${id.slice(0, 40)}" is not an id`);
  return id;
}

export class Layout {
  /** `root` is the workspace folder, `base` its `.rlenv`. */
  readonly base: string;

  constructor(readonly root: string) {
    this.base = join(resolve(root), STORE_FOLDER);
  }

  get runs(): string {
    return join(this.base, 'runs');
  }
  get snapshots(): string {
    return join(this.base, 'snapshots');
  }
  /** Templates that no person has written. */
  get facade(): string {
    return join(this.base, 'facade');
  }
  run(id: string): string {
    return join(this.runs, checkId(id));
  }
  runFile(id: string): string {
    return join(this.run(id), 'run.json');
  }
  episodesFile(id: string): string {
    return join(this.run(id), 'episodes.jsonl');
  }
  episode(id: string, episode: number): string {
    return join(this.run(id), 'episodes', String(episode));
  }
  snapshotFile(id: string): string {
    return join(this.snapshots, `${checkId(id)}.json`);
  }
  /** What is kept of one that was deleted. */
  deletedSnapshotFile(id: string): string {
    return join(this.snapshots, 'deleted', `${checkId(id)}.json`);
  }
  /** What a provider keeps for itself: layers, ledgers. */
  providerState(provider: string): string {
    return join(this.snapshots, checkId(provider));
  }

  /** Makes `.rlenv` with a `.gitignore` of its own. */
  async prepare(): Promise<void> {
    await mkdir(this.runs, { recursive: true });
    await mkdir(this.snapshots, { recursive: true });
    const ignore = join(this.base, '.gitignore');
    await access(ignore).catch(() => writeFile(ignore, '*\n'));
  }
}

/** The workspace folder that a command in `folder` means: the nearest one that has a store, else `folder` itself. */
export async function findRoot(folder: string): Promise<string> {
  for (let current = resolve(folder); ; current = dirname(current)) {
    if (await access(join(current, STORE_FOLDER)).then(() => true, () => false)) return current;
    if (dirname(current) === current) return resolve(folder);
  }
}
