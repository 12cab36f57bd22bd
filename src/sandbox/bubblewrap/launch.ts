/**
 * How a sandbox is started. One chain of processes, each becoming the next:
 *
 *     unshare -> sh: join the groups, mount what it writes, mount the overlays -> bwrap -> (in its namespaces) the gate
 *
 * What the sandbox writes lies in a file system in memory of its own, mounted in a mount namespace of its own: when the last process is gone,
 * however it went, so is all of it. A sandbox to be built from writes to a folder instead, which becomes the snapshot's layer.
 */
import { join } from 'node:path';
import type { NetworkPolicy } from '../provider.js';
import { enter, mountFolder, overlayOptions, type Ability } from './ability.js';
import type { Limits } from './limits.js';
import { quote } from './shell.js';
import type { Source } from './snapshots.js';
import { TOOLS, tool } from './tools.js';

/** Descriptor on which the gate reports. */
export const REPORT_FD = 3;
/** The same, as bubblewrap tells its child's pid on it and closes it. */
const INFO_FD = 4;

/** What a package manager needs, as container engines give it to a build; a sandbox that is restored has none. */
export const BUILD_CAPABILITIES = ['chown', 'dac_override', 'fowner', 'fsetid', 'kill', 'net_bind_service', 'setfcap', 'setgid', 'setpcap', 'setuid', 'sys_chroot'];

export interface Launch {
  readonly source: Source;
  readonly limits: Limits;
  readonly network: NetworkPolicy;
  /** Folder for what the sandbox writes; in memory if undefined. */
  readonly work: string | undefined;
  /** Whether it is to be set up by a package manager. */
  readonly build: boolean;
  /** Files to join the control groups by. */
  readonly procs: readonly string[];
  /** The resolver's settings for a sandbox with a network. */
  readonly resolvConf: string | undefined;
}

/** Whether the host's folders are completed by overlays of their own, so that they can be written to. */
const overlaysTrees = (ability: Ability): boolean => ability.privileged;

/** Folders under `fs` by what they complete: `u` the root, `u0`, `u1`, ... the host's folders; `w...` are the overlays' own. */
const uppers = (ability: Ability, { root }: Source): { upper: string; work: string; layer: string; tree: string }[] => [
  { upper: 'u', work: 'w', layer: 'root', tree: '/' },
  ...(overlaysTrees(ability) ? root.trees.map((tree, index) => ({ upper: `u${index}`, work: `w${index}`, layer: `t${index}`, tree })) : []),
];

/** What has to be moved or copied to make a layer: folder under `fs` to name in the layer. */
export const layerParts = (ability: Ability, source: Source): readonly (readonly [upper: string, layer: string])[] => uppers(ability, source).map(({ upper, layer }) => [upper, layer] as const);

/**
 * A table for `mount -a` with all overlays of a sandbox. Names are relative to the folder of mounts: libmount hands options over in pieces of
 * at most 255 bytes, and a comma or a colon in a path would need escaping that differs between versions.
 */
export function mountTable(stateDir: string, ability: Ability, source: Source): string {
  const target = escapeTable(join(mountFolder(stateDir), 'root'));
  const layers = Array.from({ length: source.layers }, (_, index) => `../snapshots/${source.folder!.split('/').at(-1)}/l${source.layers - 1 - index}`);
  return uppers(ability, source)
    .map(({ upper, work, layer, tree }) => {
      const bottom = tree === '/' ? `../roots/${source.root.name}/fs` : tree;
      const lower = [...layers.map((each) => `${each}/${layer}`), bottom].join(':');
      return `overlay ${target}${tree === '/' ? '' : tree} overlay ${overlayOptions(ability.marks)}lowerdir=${lower},upperdir=fs/${upper},workdir=fs/${work} 0 0\n`;
    })
    .join('');
}

/** fstab(5): blanks and backslashes as octal. */
const escapeTable = (text: string): string => text.replace(/[\s\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);

/** The words that start a sandbox by its launch script. `id` stands in the command lines, by which anyone can find the sandbox. */
export const launchArguments = (ability: Ability, { work = '', procs }: Pick<Launch, 'work' | 'procs'>, script: string, id: string): string[] => [...enter(ability), script, id, work, ...procs];

/** What makes launch scripts differ. */
export const launchKey = ({ limits, network, work, build }: Launch): string => [limits.disk, limits.memory ?? '', limits.pids, network, work === undefined ? 'memory' : 'folder', build ? 'build' : ''].join(' ');

/**
 * Shell that becomes a sandbox, the same for all with the same key: `sh FILE ID WORK PROCS...`. It says its pid first, which stays that of
 * bubblewrap's monitor, so that we know the other end of our pipes to be there.
 */
export function launchScript(stateDir: string, ability: Ability, launch: Launch, table: string): string {
  const { host } = ability;
  const mnt = mountFolder(stateDir);
  const { limits, work, build, source } = launch;
  const q = quote;
  const folders = uppers(ability, source).map((each) => `fs/${each.upper} fs/${each.work}`);
  const inodes = Math.ceil(limits.disk / 4096) + 1024;
  const place = work === undefined ? `-t tmpfs -o size=${Math.floor(limits.disk)},nr_inodes=${inodes},mode=755 tmpfs` : '--bind "$work"';
  return [
    `echo up $$ >&${REPORT_FD}`,
    'id=$1 work=$2',
    'shift 2',
    'umask 022',
    'for group; do echo $$ > "$group" || exit; done',
    [
      ...rlimits(ability, limits),
      `cd ${q(mnt)}`,
      `${q(host.mount)} ${place} fs`,
      `${q(host.mkdir)} -p ${folders.join(' ')} fs/shm`,
      ...(build ? [`${q(host.chmod)} 1777 fs/shm`] : []),
      `${q(host.mount)} -a -T ${q(table)}`,
      `exec ${[host.bwrap, ...bwrapArguments(mnt, ability, launch)].map(q).join(' ')} -- ${tool('sh').join(' ')} -s "$id" ${INFO_FD}>&${REPORT_FD}`,
    ].join(' &&\n'),
    '',
  ].join('\n');
}

function bwrapArguments(mnt: string, ability: Ability, { network, build, source, resolvConf }: Launch): string[] {
  // A package manager hands files to several users, so on behalf of root it runs without a user namespace, which would map only one.
  const several = build && ability.privileged;
  return [
    ...(several ? [] : ['--unshare-user', '--uid', '0', '--gid', '0', ...(ability.host.disableUserns ? ['--disable-userns'] : [])]),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', ...(network === 'none' ? ['--unshare-net'] : [])],
    ...['--die-with-parent', '--new-session', '--as-pid-1', '--hostname', 'sandbox', '--info-fd', String(INFO_FD), '--cap-drop', 'ALL'],
    ...(several ? BUILD_CAPABILITIES.flatMap((name) => ['--cap-add', `CAP_${name.toUpperCase()}`]) : []),
    ...['--bind', join(mnt, 'root'), '/'],
    ...(overlaysTrees(ability) ? [] : source.root.trees.flatMap((tree) => ['--ro-bind', tree, tree])),
    ...['--ro-bind', ability.tools, TOOLS, '--proc', '/proc'],
    // Kernel settings under /proc check for the machine's root user and not for capabilities: such a sandbox must not write there at all.
    ...(ability.privileged ? ['--remount-ro', '/proc'] : []),
    // What is in /dev counts as written by the sandbox too, so nothing but /dev/shm can be.
    ...['--dev', '/dev', '--bind', join(mnt, 'fs/shm'), '/dev/shm', '--remount-ro', '/dev'],
    ...(network === 'full' && resolvConf !== undefined ? ['--ro-bind', resolvConf, '/etc/resolv.conf'] : []),
    ...['--chdir', '/'],
  ];
}

/** Lines that limit a process and its children, for what no control group keeps. */
export function rlimits({ cgroups, ulimitPids }: Ability, { memory, pids }: Limits): string[] {
  return [
    ...(memory !== undefined && !cgroups.has('memory') ? [`ulimit -v ${Math.ceil(memory / 1024)}`] : []),
    ...(!cgroups.has('pids') && ulimitPids !== undefined ? [`ulimit ${ulimitPids} ${pids}`] : []),
  ];
}
