/** Processes of sandboxes as the host sees them in /proc. */
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** How long processes that were killed are waited for. */
export const PATIENCE_MS = 10_000;

/** Children of a process, its threads' included. */
export async function children(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'latin1').catch(() => '')));
  return lists.join(' ').split(' ').filter(Boolean).map(Number);
}

export interface ProcessState {
  /** Letter of proc(5): `Z` and `X` have ended. */
  readonly state: string;
  /** It is on its way out (`PF_EXITING` of Linux's `sched.h`): a namespace's first process is, before the others are killed. */
  readonly leaving: boolean;
  readonly parent: number;
  /** Clock ticks since boot. */
  readonly started: number;
}

const PF_EXITING = 0x4;

export async function processState(pid: number): Promise<ProcessState | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0]!, leaving: (Number(fields[6]) & PF_EXITING) !== 0, parent: Number(fields[1]), started: Number(fields[19]) };
}

const hasEnded = (state: ProcessState | undefined): boolean => state === undefined || state.state === 'Z' || state.state === 'X';

/** All living descendants, children before their own children. */
export async function descendants(pid: number): Promise<number[]> {
  const found: number[] = [];
  for (let level = [pid]; level.length > 0; ) {
    const below = (await Promise.all(level.map(children))).flat();
    found.push(...(await living(below)));
    level = below;
  }
  return found;
}

export async function living(pids: readonly number[]): Promise<number[]> {
  const states = await Promise.all(pids.map(processState));
  return pids.filter((_, index) => !hasEnded(states[index]));
}

/** Whether a process lives and is not on its way out either. */
export async function stays(pid: number): Promise<boolean> {
  const state = await processState(pid);
  return !hasEnded(state) && !state!.leaving;
}

export function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** SIGKILL; a process that is gone is a success. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone, or not ours to kill: whoever waits for its end finds out.
  }
}

/** Kills what descends from a process until nothing does, or for as long as `PATIENCE_MS`: one that waits for a device cannot be killed. */
export async function killDescendants(pid: number): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let found = await descendants(pid); found.length > 0 && Date.now() < deadline; found = await descendants(pid)) {
    found.forEach(kill);
    await pause(1);
  }
}

/** Pids of all processes whose command line holds a word. Reads those of the whole machine: who looks for many words reads them once. */
export const withWord = async (word: string): Promise<number[]> => (await commandLines()).filter(({ words }) => words.includes(word)).map(({ pid }) => pid);

export async function commandLines(): Promise<{ readonly pid: number; readonly words: readonly string[] }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(pids.map(async (pid) => ({ pid: Number(pid), words: (await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')).split('\0') })));
}
