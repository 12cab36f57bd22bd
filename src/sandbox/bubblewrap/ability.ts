/** What this machine lets this user do, found out by doing it. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../command.js';
import { ProviderUnavailable } from '../errors.js';
import { Cgroups } from './cgroups.js';
import { findHost, namespaceHint, type Host } from './host.js';
import { quote } from './shell.js';
import type { Marks } from './snapshots.js';
import { prepareTools } from './tools.js';

export interface Ability {
  readonly host: Host;
  readonly tools: string;
  /** Whether namespaces belong to the machine's root, or to a user namespace of our own. */
  readonly privileged: boolean;
  readonly marks: Marks;
  /** Whether a file system in memory can hold what a sandbox writes (for an ordinary user since Linux 6.6). */
  readonly memoryDisk: boolean;
  /** Whether the folder of state can. */
  readonly folderDisk: boolean;
  readonly cgroups: Cgroups;
  /** Option of the shell's `ulimit` for processes; undefined if such a limit would count what else the user runs. */
  readonly ulimitPids: '-u' | '-p' | undefined;
}

/** Words that run a shell script, whose file follows, with mounts of its own. */
export const enter = ({ host, privileged }: Pick<Ability, 'host' | 'privileged'>): string[] => [host.unshare, ...(privileged ? [] : ['--user', '--map-root-user']), '--mount', '--propagation', 'private', host.sh];

/** Where the private file systems are mounted: `fs` what the sandbox writes, `root` its whole root. Each sandbox sees only its own there. */
export const mountFolder = (stateDir: string): string => join(stateDir, 'mnt');

/** @throws ProviderUnavailable with what a person can do */
export async function findAbility(stateDir: string, owner: string, signal?: AbortSignal): Promise<Ability> {
  const host = await findHost(signal);
  const mnt = mountFolder(stateDir);
  for (const folder of ['fs', 'root']) await mkdir(join(mnt, folder), { recursive: true });
  const tools = await prepareTools(stateDir, host, signal);
  const root = process.getuid?.() === 0;
  const privileged = root && (await runCommand(host.unshare, ['--mount', '--propagation', 'private', host.mount, '-t', 'tmpfs', 'tmpfs', mnt], { signal })).code === 0;
  const { code, stderr } = await runCommand(host.unshare, [...enter({ host, privileged }).slice(1), '-c', 'true'], { signal });
  if (code !== 0) throw new ProviderUnavailable(`namespaces cannot be made here: ${stderr.trim()}`, await namespaceHint());
  const marks: Marks = privileged ? 'trusted' : 'user';
  const probing = { host, privileged, marks };
  const [memoryDisk, folderDisk] = [await holdsOverlay(probing, mnt, undefined, signal), await holdsOverlay(probing, mnt, join(stateDir, 'work', `probe-${process.pid}`), signal)];
  if (!memoryDisk && !folderDisk) throw new ProviderUnavailable('overlay file systems cannot be mounted here', 'an overlay needs Linux 5.11 or later, and the folder of state on a local file system (ext4, xfs, btrfs)');
  return { ...probing, tools, memoryDisk, folderDisk, cgroups: await Cgroups.find(host.sh, owner), ulimitPids: await ulimitPids(host, privileged) };
}

/**
 * Whether a place can hold the upper layer of an overlay, markers of replaced folders included: an overlay is mounted in a namespace of its own
 * and a folder of the lower layer is removed and made again, which must then be empty.
 */
async function holdsOverlay({ host, privileged, marks }: Pick<Ability, 'host' | 'privileged' | 'marks'>, mnt: string, folder: string | undefined, signal?: AbortSignal): Promise<boolean> {
  if (folder !== undefined) await mkdir(folder, { recursive: true });
  const place = folder === undefined ? '-t tmpfs tmpfs' : `--bind ${quote(folder)}`;
  const script = `${host.mount} ${place} fs && ${host.mkdir} -p fs/l/d/x fs/u fs/w && ${host.mount} -t overlay -o ${overlayOptions(marks)}lowerdir=fs/l,upperdir=fs/u,workdir=fs/w overlay root && rm -r root/d && ${host.mkdir} root/d && [ -z "$(ls -A root/d)" ]`;
  try {
    return (await runCommand(enter({ host, privileged })[0]!, [...enter({ host, privileged }).slice(1), '-c', script], { signal, cwd: mnt })).code === 0;
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

export const overlayOptions = (marks: Marks): string => (marks === 'user' ? 'userxattr,' : '');

/** Since Linux 5.14 processes are counted for each user namespace, so the limit is the sandbox's own. Root of the machine is exempt. */
async function ulimitPids(host: Host, privileged: boolean): Promise<'-u' | '-p' | undefined> {
  const [major, minor] = (await runCommand('uname', ['-r'])).stdout.split('.').map(Number);
  if (privileged || major! < 5 || (major === 5 && minor! < 14)) return undefined;
  for (const option of ['-u', '-p'] as const) if ((await runCommand(host.sh, ['-c', `ulimit ${option} 1000 && [ "$(ulimit ${option})" = 1000 ]`])).code === 0) return option;
  return undefined;
}
