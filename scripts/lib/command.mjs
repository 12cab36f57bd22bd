// Runs a program as a group of its own, so that a deadline or Ctrl-C ends all of it.
import { spawn } from 'node:child_process';

const windows = process.platform === 'win32';
/** Leaders of the groups that run now. */
const groups = new Set();

/** What a program that failed printed, both streams in the order they came. */
export class CommandFailed extends Error {
  constructor(message, output, code) {
    super(message);
    this.output = output;
    this.code = code;
  }
}

/** Sends a signal to a process group; one that is gone is fine. */
export function signalGroup(pid, signal) {
  try {
    process.kill(windows ? pid : -pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Ends every group that this process started: called on the way out. */
export function killGroups() {
  for (const pid of groups) signalGroup(pid, 'SIGKILL');
}

/**
 * Runs a program to its end.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number, signal?: AbortSignal, graceMs?: number, allowFailure?: boolean }} options
 *   `graceMs` is the time between SIGTERM and SIGKILL once the deadline has passed or `signal` has fired.
 * @returns {Promise<{ code: number, output: string, timedOut: boolean }>} Rejects with `CommandFailed` unless `allowFailure`.
 */
export function run(command, args, { cwd, env, timeoutMs = 600_000, signal, graceMs = 5_000, allowFailure = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: !windows, shell: windows && command.endsWith('.cmd') });
    const chunks = [];
    let timedOut = false;
    let kill;
    const stop = () => {
      signalGroup(child.pid, 'SIGTERM');
      kill ??= setTimeout(() => signalGroup(child.pid, 'SIGKILL'), graceMs);
    };
    const deadline = setTimeout(() => {
      timedOut = true;
      stop();
    }, timeoutMs);
    signal?.addEventListener('abort', stop, { once: true });
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    const settle = () => {
      signal?.removeEventListener('abort', stop);
      clearTimeout(deadline);
      clearTimeout(kill);
      groups.delete(child.pid);
    };
    child.on('spawn', () => groups.add(child.pid));
    child.on('error', (error) => {
      settle();
      reject(new CommandFailed(`${command} could not be started: ${error.message}`, '', -1));
    });
    child.on('exit', () => {
      // A grandchild that keeps the pipes open must not keep us: what is left of the group goes, and its output ends with it.
      if (!windows) signalGroup(child.pid, 'SIGKILL');
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, 2_000).unref();
    });
    child.on('close', (exitCode, killedBy) => {
      settle();
      const output = Buffer.concat(chunks).toString();
      const code = exitCode ?? 128;
      if (allowFailure || (code === 0 && !timedOut)) resolve({ code, output, timedOut });
      else reject(new CommandFailed(timedOut ? `${command} did not end within ${timeoutMs / 1000} s` : `${command} ended with ${killedBy ?? `exit code ${code}`}`, output, code));
    });
  });
}
