/** Where this process may make control groups, in the version 2 hierarchy or in version 1's, one for each controller. */
import { access, mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runCommand } from '../command.js';
import { isOwnerAlive } from '../owner.js';

export type Controller = 'cpu' | 'memory' | 'pids';
const CONTROLLERS: readonly Controller[] = ['cpu', 'memory', 'pids'];

/** All groups of this project are children of one of this name. */
const PARENT = 'rl-sandboxes';

/** The file that tells that a controller is there. */
const LIMIT_FILES = { 1: { cpu: 'cpu.cfs_quota_us', memory: 'memory.limit_in_bytes', pids: 'pids.max' }, 2: { cpu: 'cpu.max', memory: 'memory.max', pids: 'pids.max' } } as const;

/** A folder to make groups in, and what can be limited there. */
export interface Hierarchy {
  readonly version: 1 | 2;
  readonly folder: string;
  readonly controllers: readonly Controller[];
}

/** The hierarchies in which a child process really can be limited: each is tried. */
export async function findHierarchies(sh: string): Promise<Hierarchy[]> {
  const [mounts, groups] = await Promise.all(['/proc/self/mountinfo', '/proc/self/cgroup'].map((file) => readFile(file, 'utf8').catch(() => '')));
  const own = new Map(groups!.split('\n').filter(Boolean).map((line) => [line.split(':')[1]!, line.split(':').slice(2).join(':')]));
  const found: Hierarchy[] = [];
  const missing = new Set<Controller>(CONTROLLERS);
  for (const line of mounts!.split('\n')) {
    const [left, right] = line.split(' - ');
    const [root, mount] = left?.split(' ').slice(3, 5) ?? [];
    const [type, , options] = right?.split(' ') ?? [];
    if (root === undefined || mount === undefined || (type !== 'cgroup' && type !== 'cgroup2')) continue;
    const version = type === 'cgroup2' ? 2 : 1;
    const names = version === 2 ? '' : [...own.keys()].find((key) => key !== '' && key.split(',').every((name) => options?.split(',').includes(name)));
    const path = names === undefined ? undefined : own.get(names);
    const wanted = version === 2 ? [...missing] : CONTROLLERS.filter((name) => names?.split(',').includes(name) && missing.has(name));
    if (path === undefined || wanted.length === 0) continue;
    const hierarchy = await settle(version, mount, path.startsWith(root) ? path.slice(root === '/' ? 0 : root.length) : '/', wanted, sh);
    if (!hierarchy) continue;
    found.push(hierarchy);
    hierarchy.controllers.forEach((name) => missing.delete(name));
  }
  return found;
}

/**
 * Beside this process's own group if that can be, so that limits above it hold for sandboxes too; else further up, as far as it takes to
 * find a place where groups may be made (the part of the tree that systemd hands to a user).
 */
async function settle(version: 1 | 2, mount: string, path: string, wanted: readonly Controller[], sh: string): Promise<Hierarchy | undefined> {
  for (let at = path === '/' || path === '' ? '/' : dirname(path); ; at = dirname(at)) {
    const folder = join(mount, at, PARENT);
    const controllers = await tryFolder(version, folder, wanted, sh).catch(() => []);
    if (controllers.length) return { version, folder, controllers };
    if (at === '/' || at === '.') return undefined;
  }
}

async function tryFolder(version: 1 | 2, folder: string, wanted: readonly Controller[], sh: string): Promise<Controller[]> {
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  // Which of them can be handed down differs; each is asked for alone.
  if (version === 2) for (const parent of [dirname(folder), folder]) for (const name of wanted) await writeFile(join(parent, 'cgroup.subtree_control'), `+${name}`).catch(() => undefined);
  await removeStale(folder);
  const probe = join(folder, `${process.pid}.probe`);
  await mkdir(probe).catch(() => undefined);
  try {
    const { code } = await runCommand(sh, ['-c', 'echo $$ > "$1"', 'sh', join(probe, 'cgroup.procs')]);
    if (code !== 0) return [];
    const there = await Promise.all(wanted.map((name) => access(join(probe, LIMIT_FILES[version][name])).then(() => [name], () => [])));
    return there.flat();
  } finally {
    await rmdir(probe).catch(() => undefined);
  }
}

/** Groups are named `pid_start_boot.number` after their owner. */
async function removeStale(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const owner = /^(.+)\.\d+$/.exec(entry.name)?.[1];
    if (!entry.isDirectory() || owner === undefined || (await isOwnerAlive(owner.replaceAll('_', ':')))) continue;
    const group = join(folder, entry.name);
    await killOrphans(group);
    await removeGroup(group);
  }
}

/**
 * Ends what outlived the owner of a group: bubblewrap binds its child to itself a moment after it has made it, and a kill in that moment leaves a child that
 * waits for ever. Such a one belongs to init. Whatever else there is belongs to somebody (a container may share the tree, not the numbers of processes).
 */
async function killOrphans(group: string): Promise<void> {
  const members = (await readFile(join(group, 'cgroup.procs'), 'latin1').catch(() => '')).split('\n').map(Number);
  for (const pid of members.filter((each) => each > 1)) {
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    if (!/^PPid:\t1$/m.test(status)) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile, or is not ours to end.
    }
  }
}

const BUSY_TRIES = 50;
const BUSY_WAIT_MS = 20;

/** Removes an empty group. One that was just left by its last process can be busy for a moment more; one that stays so is left for the next provider to remove. */
export async function removeGroup(folder: string): Promise<void> {
  for (let tries = 1; tries <= BUSY_TRIES; tries++) {
    const error = await rmdir(folder).then(() => undefined, (reason: NodeJS.ErrnoException) => reason);
    if (error?.code !== 'EBUSY') return;
    await pause(BUSY_WAIT_MS);
  }
}
