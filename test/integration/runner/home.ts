/** What tests of the runner share: a place of its own for real runners, a workspace, and nothing left of either. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { RunnerNotifications } from '../../../src/runner/api.js';
import { connectRunner, type ConnectOptions, type RunnerConnection } from '../../../src/runner/connect.js';
import { identityOf } from '../../../src/runner/identity.js';
import { placeIn, type Place } from '../../../src/runner/place.js';
import type { RunSummary } from '../../../src/runner/api.js';

export const SCRIPT = resolve('dist/runner.mjs');
const CLI = resolve('dist/cli.mjs');
export const PATIENCE_MS = 30_000;

export class Home {
  readonly place: Place;
  readonly root: string;
  private readonly connections: RunnerConnection[] = [];

  private constructor(readonly folder: string) {
    this.place = placeIn(join(folder, 'run'));
    this.root = join(folder, 'workspace');
  }

  static async make(): Promise<Home> {
    const home = new Home(await mkdtemp(join(tmpdir(), 'rn-')));
    await mkdir(home.root);
    return home;
  }

  get env(): NodeJS.ProcessEnv {
    return { ...process.env, RL_SANDBOXES_RUNTIME_DIR: this.place.folder };
  }

  async template(name: string, text: string): Promise<string> {
    const file = join(this.root, `${name}.rlenv.yaml`);
    await writeFile(file, `name: ${name}\n${text}`);
    return file;
  }

  async options(others: Partial<ConnectOptions> = {}): Promise<ConnectOptions> {
    return { place: this.place, identity: await identityOf(SCRIPT), client: 'cli', start: { execPath: process.execPath, script: SCRIPT }, ...others };
  }

  /** A connection; starts a runner if none is there. */
  async connect(others: Partial<ConnectOptions> = {}): Promise<RunnerConnection> {
    const connection = await connectRunner(await this.options(others));
    assert.ok(connection, 'a runner answers');
    this.connections.push(connection);
    return connection;
  }

  /** A connection that looks at the workspace, as a window does. */
  async window(others: Partial<ConnectOptions> = {}): Promise<Window> {
    const connection = await this.connect(others);
    const window = new Window(connection, this.root);
    await connection.client.request('look', { roots: [{ root: this.root, visible: true }] });
    return window;
  }

  /** Runs the command line; its standard output. */
  async cli(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    return (await promisify(execFile)(process.execPath, [CLI, ...args], { cwd: this.root, env: { ...this.env, ...env }, timeout: PATIENCE_MS * 2 })).stdout;
  }

  /** Process ids of the runners of this place. */
  runners(): Promise<number[]> {
    return processesWith(this.place.folder, 'runner');
  }

  /** Ends every runner of this place, and removes all of it. Whoever holds a connection hears of it. */
  async remove(): Promise<void> {
    for (const connection of this.connections) connection.close();
    await this.cli(['runner', 'stop', '--force']).catch(() => undefined);
    await until('the runner to go', async () => (await this.runners()).length === 0 || undefined);
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
    if (!this.place.folder.startsWith(this.folder)) await rm(this.place.folder, { recursive: true, force: true });
  }
}

/** A connection that keeps what it heard. */
export class Window {
  readonly heard: RunnerNotifications['changed'][] = [];
  private readonly waiting = new Set<() => void>();

  constructor(
    readonly connection: RunnerConnection,
    readonly root: string,
  ) {
    connection.client.on('changed', (params) => {
      this.heard.push(params);
      for (const wake of [...this.waiting]) wake();
    });
  }

  get client(): RunnerConnection['client'] {
    return this.connection.client;
  }

  async run(id: string): Promise<RunSummary | undefined> {
    return (await this.client.request('run/list', { root: this.root })).find(({ run }) => run.id === id);
  }

  /** Asks whenever the runner says that something changed, until a run is as it should be; never by itself. */
  async sees(id: string | undefined, fits: (summary: RunSummary) => boolean): Promise<RunSummary> {
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    setMaxListeners(0, deadline);
    let last: readonly RunSummary[] = [];
    for (;;) {
      const count = this.heard.length;
      last = await this.client.request('run/list', { root: this.root });
      const found = last.find((summary) => (id === undefined || summary.run.id === id) && fits(summary));
      if (found) return found;
      if (this.heard.length > count) continue;
      await new Promise<void>((resolve, reject) => {
        const wake = () => {
          this.waiting.delete(wake);
          resolve();
        };
        this.waiting.add(wake);
        deadline.addEventListener('abort', () => reject(new Error(`not seen in time; last: ${JSON.stringify(last.map(({ run, finished }) => [run.id, run.state, finished]))}`)), { once: true });
      });
    }
  }
}

/** Living processes whose command line has both words. */
export async function processesWith(...words: string[]): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [command, status] = await Promise.all(['cmdline', 'status'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')));
      return !/^State:\s+Z/m.test(status!) && words.every((word) => command!.includes(word)) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

/** What `look` finds, asked again and again: for what no event tells of. */
export async function until<T>(what: string, look: () => Promise<T | undefined>, patienceMs = PATIENCE_MS): Promise<T> {
  for (const deadline = performance.now() + patienceMs; ; await delay(25)) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`waited ${patienceMs / 1000} s for ${what}`);
  }
}
