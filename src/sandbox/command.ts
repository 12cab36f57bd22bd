/** Programs of the host, run to their end. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { text } from 'node:stream/consumers';
import { LimitExceeded } from './errors.js';

/** As `spawn`, but a machine without room for more open files is an exception: Node's child would have no streams then. */
export const startProgram = ((...how: Parameters<typeof spawn>) => {
  const child = spawn(...how);
  if ((child.stdio as unknown) !== undefined) return child;
  child.once('error', () => undefined);
  throw new LimitExceeded('the machine has no more room: too many files are open (`ulimit -n`)');
}) as typeof spawn;

export interface CommandResult {
  /** Exit code, 128 + n for a signal. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly signal?: AbortSignal;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
}

/** Runs a program of the host and gathers its output, which is expected to be short. Rejects if it cannot be started or is aborted; then it is killed. */
export async function runCommand(file: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  options.signal?.throwIfAborted();
  const child = startProgram(file, args, { stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'], cwd: options.cwd, env: options.env });
  // A program that ends without reading it is no failure here: its exit code tells.
  child.stdin?.on('error', () => undefined).end(options.stdin);
  const kill = (): void => void child.kill('SIGKILL');
  options.signal?.addEventListener('abort', kill, { once: true });
  try {
    const exit = new Promise<number>((resolve, reject) => {
      child.once('error', (error) => reject(spawnFailure(error)));
      child.once('close', (code, signal) => resolve(exitCode(code, signal)));
    });
    const [code, stdout, stderr] = await Promise.all([exit, text(child.stdout!), text(child.stderr!)]);
    options.signal?.throwIfAborted();
    return { code, stdout, stderr };
  } finally {
    options.signal?.removeEventListener('abort', kill);
  }
}

/** A child's end as a shell counts it. */
export const exitCode = (code: number | null, signal: NodeJS.Signals | null): number => code ?? 128 + constants.signals[signal!];

/** Names of errors that say that the machine has no more of something. */
const EXHAUSTED = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT']);

/** Turns a system error that means "no more of it" into `LimitExceeded`; gives any other back as it is. */
export function spawnFailure(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  return code !== undefined && EXHAUSTED.has(code) ? new LimitExceeded(`the machine has no more room: ${(error as Error).message}`, { cause: error }) : error;
}
