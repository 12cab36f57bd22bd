/** What this machine lets this user do, found out by doing it. */
import { mkdir, readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { runCommand, type CommandResult } from '../command.js';
import { ProviderUnavailable } from '../errors.js';
import { Cgroups } from './cgroups.js';
import { removeTree } from './disk.js';
import { HOST_ENVIRONMENT, findHost, namespaceHint, type Host } from './host.js';
import type { Marks } from './snapshots.js';
import { record, starterArguments, type Step } from './starterProgram.js';
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
  /** Whether a limit of processes does not count what else the user runs. */
  readonly countsPids: boolean;
}

/** The step to mounts of one's own. */
export const separate = (privileged: boolean): Step => (privileged ? ['unshare'] : ['unshare-user', process.getuid!(), process.getgid!()]);

/** Where the private file systems are mounted: `fs` what the sandbox writes, `root` its whole root, `below` what that was before it wrote. Each sandbox sees only its own there. */
export const mountFolder = (stateDir: string): string => join(stateDir, 'mnt');

/** @throws ProviderUnavailable with what a person can do */
export async function findAbility(stateDir: string, owner: string, signal?: AbortSignal): Promise<Ability> {
  const host = await findHost(signal);
  const mnt = mountFolder(stateDir);
  for (const folder of ['fs', 'root', 'below']) await mkdir(join(mnt, folder), { recursive: true });
  const tools = await prepareTools(stateDir, host, signal);
  const privileged = (await isRootOfMachine()) && (await attempt(host, [separate(true), ['tmpfs', mnt, 'mode=755'], ['exec', host.sh, '-c', ':']], signal)).code === 0;
  const { code, stderr } = await attempt(host, [separate(privileged), ['exec', host.sh, '-c', ':']], signal);
  if (code !== 0) throw new ProviderUnavailable(`namespaces cannot be made here: ${stderr.trim()}`, await namespaceHint());
  const marks: Marks = privileged ? 'trusted' : 'user';
  const probing = { host, privileged, marks };
  const [memoryDisk, folderDisk] = [await holdsOverlay(probing, mnt, undefined, signal), await holdsOverlay(probing, mnt, join(stateDir, 'work', `probe-${process.pid}`), signal)];
  if (!memoryDisk && !folderDisk) throw new ProviderUnavailable('overlay file systems cannot be mounted here', 'an overlay needs Linux 5.11 or later, and the folder of state on a local file system (ext4, xfs, btrfs)');
  return { ...probing, tools, memoryDisk, folderDisk, cgroups: await Cgroups.find(host.sh, owner), countsPids: countsPids(privileged) };
}

/** Root of a user namespace, as in a container without a daemon, has only what an ordinary user has outside. */
async function isRootOfMachine(): Promise<boolean> {
  return process.getuid?.() === 0 && /^\s*0\s+0\s+4294967295\s*$/.test(await readFile('/proc/self/uid_map', 'latin1').catch(() => ''));
}

/**
 * Whether a place can hold the upper layer of an overlay, markers of replaced folders included: an overlay is mounted in a namespace of its own
 * and a folder of the lower layer is removed and made again, which must then be empty.
 */
async function holdsOverlay({ host, privileged, marks }: Pick<Ability, 'host' | 'privileged' | 'marks'>, mnt: string, folder: string | undefined, signal?: AbortSignal): Promise<boolean> {
  if (folder !== undefined) await mkdir(folder, { recursive: true });
  const folders = ['fs/l', 'fs/l/d', 'fs/l/d/x', 'fs/u', 'fs/w'];
  const steps: Step[] = [
    ['chdir', mnt],
    separate(privileged),
    folder === undefined ? ['tmpfs', 'fs', 'mode=755'] : ['bind', folder, 'fs'],
    ...folders.map((path): Step => ['mkdir', path, 0o755]),
    ['overlay', 'root', `${overlayOptions(marks)}lowerdir=fs/l,upperdir=fs/u,workdir=fs/w`],
    ['exec', host.sh, '-c', 'rm -r root/d && mkdir root/d && [ -z "$(ls -A root/d)" ]'],
  ];
  try {
    return (await attempt(host, steps, signal)).code === 0;
  } finally {
    if (folder !== undefined) await removeTree(folder, host.chmod).catch(() => undefined);
  }
}

/** Does steps and gives how they ended. */
function attempt(host: Host, steps: readonly Step[], signal?: AbortSignal): Promise<CommandResult> {
  return runCommand(host.perl, starterArguments('once')!, { signal, env: HOST_ENVIRONMENT, stdin: record('attempt', ['', '', '', ''], steps) });
}

export const overlayOptions = (marks: Marks): string => (marks === 'user' ? 'userxattr,' : '');

/** Since Linux 5.14 processes are counted for each user namespace, so that a limit is the sandbox's own. Root of the machine is exempt from it. */
function countsPids(privileged: boolean): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return !privileged && (major > 5 || (major === 5 && minor >= 14));
}
