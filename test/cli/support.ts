/** Runs the command line as a person does: the built program, in a folder of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const CLI = resolve('dist/cli.mjs');
export const HELLO = resolve('examples/hello.rlenv.yaml');

export interface Result {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly result: Promise<Result>;
}

export class Workspace {
  private constructor(readonly folder: string) {}

  static async make(): Promise<Workspace> {
    return new Workspace(await mkdtemp(join(tmpdir(), 'rl-cli-')));
  }

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  /** Writes a template and returns its path. */
  async template(name: string, text: string): Promise<string> {
    const file = this.path(`${name}.rlenv.yaml`);
    await writeFile(file, `name: ${name}\n${text}`);
    return file;
  }

  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
    const child = spawn(process.execPath, [CLI, ...args], { cwd: this.folder, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const result = new Promise<Result>((done) => child.on('close', (code, signal) => done({ code, signal, stdout, stderr })));
    return { child, result };
  }

  run(...args: string[]): Promise<Result> {
    return this.start(args).result;
  }

  async json<T>(...args: string[]): Promise<T> {
    const { stdout, stderr } = await this.run(...args, '--json');
    try {
      return JSON.parse(stdout) as T;
    } catch {
      throw new Error(`no JSON on standard output: ${stdout}\n${stderr}`);
    }
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

/** Text with what differs from run to run replaced, to be held against a stored text. */
export function normalise(text: string, folder: string): string {
  return text
    .replaceAll(folder, '<folder>')
    .replace(/[a-z0-9-]+-\d{8}-\d{6}-[0-9a-f]{4}/g, '<run>')
    .replace(/[0-9a-f]{8}-[0-9a-z]{8}/g, '<snapshot>')
    .replace(/\d+(\.\d+)? (ms|s|min( \d+ s)?|h)\b/g, '<time>')
    .replace(/\d+(\.\d+)? episodes\/s/g, '<rate> episodes/s');
}
