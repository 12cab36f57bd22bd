/** Runs a program on this machine, in a process group of its own that never outlives the call. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { LimitExceeded } from '../../sandbox/errors.js';
import { consume, type OutputCapture } from '../output.js';
import { fail, quote } from './failure.js';

export interface HostProgramOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly clean: (stream: Readable) => Readable;
  readonly stdout: readonly OutputCapture[];
  readonly stderr: readonly OutputCapture[];
}

/** How long output may still come when the program has ended and its group is dead: a process that left the group can hold the pipe. */
const DRAIN_MS = 2000;

/** Errors of `spawn` that say that the machine is short of something, not that the program is wrong. */
const SHORTAGES = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE']);

/**
 * Exit code or signal of the program. No shell reads its arguments. Rejects with the signal's reason, with `LimitExceeded`, or with
 * `RewardFailure` (verifier-failed) if it cannot be started.
 */
export async function runHostProgram([program, ...args]: readonly string[], options: HostProgramOptions, signal: AbortSignal): Promise<number | NodeJS.Signals> {
  signal.throwIfAborted();
  let kill: (() => void) | undefined;
  try {
    const child = spawn(program!, args, { cwd: options.cwd, env: options.env, stdio: ['ignore', 'pipe', 'pipe'], detached: process.platform !== 'win32', windowsHide: true });
    // Before that there may be no pipes to read.
    await once(child, 'spawn');
    kill = () => killGroup(child);
    signal.addEventListener('abort', kill, { once: true });
    if (signal.aborted) kill();
    const drained = Promise.allSettled([consume(options.clean(child.stdout), ...options.stdout), consume(options.clean(child.stderr), ...options.stderr)]);
    const [code, by] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    kill();
    const giveUp = setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), DRAIN_MS);
    await drained;
    clearTimeout(giveUp);
    signal.throwIfAborted();
    return code ?? by!;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (!syscall?.startsWith('spawn')) throw error;
    if (SHORTAGES.has(code ?? '')) throw new LimitExceeded(`cannot start ${program}: ${code}`, { cause: error });
    return fail('verifier-failed', `cannot start the scorer ${quote(program!)}: ${code === 'ENOENT' ? 'there is no such program' : code}`);
  } finally {
    if (kill) signal.removeEventListener('abort', kill);
  }
}

/** Kills a program that leads a process group, and all of the group. "Already gone" is a success. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
