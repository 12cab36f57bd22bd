/** A folder to work in, as an author has one: the hello example with fewer episodes, and an environment that takes its time. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { EpisodeRecord, RunRecord } from '../../src/store/records.js';

const SLOW = `name: slow
episode:
  run: sleep 30; echo 1
  seeds: 40
`;

export interface RunFolder {
  readonly run: RunRecord;
  readonly episodes: readonly EpisodeRecord[];
}

const json = <T>(text: string): T => JSON.parse(text) as T;

export class Workspace {
  private constructor(
    private readonly home: string,
    readonly folder: string,
  ) {}

  /** `seeds` is how many episodes hello has; `others` are templates besides, by name. */
  static async create(seeds: number, others: Readonly<Record<string, string>> = {}): Promise<Workspace> {
    const home = await mkdtemp(join(tmpdir(), 'ws-'));
    // Its name is in the pictures.
    const folder = join(home, 'environments');
    await mkdir(folder);
    const hello = await readFile('examples/hello.rlenv.yaml', 'utf8');
    await writeFile(join(folder, 'hello.rlenv.yaml'), hello.replace(/^(\s+seeds:).*$/m, `$1 ${seeds}`));
    for (const [name, text] of Object.entries({ slow: SLOW, ...others })) await writeFile(join(folder, `${name}.rlenv.yaml`), text);
    return new Workspace(home, folder);
  }

  /** A folder that is there. */
  static at(folder: string): Workspace {
    return new Workspace(folder, folder);
  }

  /** Everything on disk of all runs, oldest first. */
  async runs(): Promise<RunFolder[]> {
    const folder = join(this.folder, '.rlenv', 'runs');
    const runs = await Promise.all(
      (await readdir(folder)).map(async (id) => {
        const run = json<RunRecord>(await readFile(join(folder, id, 'run.json'), 'utf8'));
        const lines = await readFile(join(folder, id, 'episodes.jsonl'), 'utf8').catch(() => '');
        // The last one may be on its way to the disk.
        return { run, episodes: lines.slice(0, lines.lastIndexOf('\n') + 1).split('\n').filter(Boolean).map((line) => json<EpisodeRecord>(line)) };
      }),
    );
    return runs.sort((a, b) => a.run.number - b.run.number);
  }

  /** Starts a run from a terminal, in a process of its own. `template` is a name in the folder. */
  runInTerminal(template: string, ...options: readonly string[]): ChildProcess {
    return spawn(process.execPath, [resolve('dist/cli.mjs'), 'run', `${template}.rlenv.yaml`, ...options], { cwd: this.folder, stdio: 'ignore' });
  }

  async write(name: string, text: string): Promise<void> {
    const file = join(this.folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  /** Settings of the workspace; VS Code takes them up at once. */
  async settings(settings: Readonly<Record<string, unknown>>): Promise<void> {
    await this.write('.vscode/settings.json', JSON.stringify(settings));
  }

  async remove(): Promise<void> {
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}
