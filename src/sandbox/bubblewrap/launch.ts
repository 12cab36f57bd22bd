/**
 * How a sandbox is started. One process, which becomes the next:
 *
 *     starter's child: join the groups, unshare mounts, mount what it writes and the overlays -> bwrap -> (in its namespaces) the gate
 *
 * What the sandbox writes lies in a file system in memory of its own, mounted in a mount namespace of its own: when the last process is gone,
 * however it went, so is all of it. A sandbox to be built from writes to a folder instead, which becomes the snapshot's layer.
 */
import { join } from 'node:path';
import type { NetworkPolicy } from '../provider.js';
import { mountFolder, overlayOptions, separate, type Ability } from './ability.js';
import type { Limits } from './limits.js';
import type { Source } from './snapshots.js';
import type { Step } from './starterProgram.js';
import { TOOLS, tool } from './tools.js';

/** Descriptor on which the gate reports. */
export const REPORT_FD = 3;
/** The same for bubblewrap's monitor, which tells the gate's pid, and holds it until the whole pid namespace has gone: the gate's own closes sooner. */
const STATUS_FD = 4;

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
  /** After which it ends even if its owner does not see to that. */
  readonly lifetimeSeconds: number;
  /** Files to join the control groups by. */
  readonly procs: readonly string[];
  /** Of the sandbox, as the specification has it; root if undefined. */
  readonly user: string | undefined;
  /** Folders that can be written to, none within another; all if undefined. */
  readonly writable: readonly string[] | undefined;
  /** The resolver's settings for a sandbox with a network. */
  readonly resolvConf: string | undefined;
}

/** Whether the host's folders are completed by overlays of their own, so that they can be written to. */
const overlaysTrees = (ability: Ability): boolean => ability.privileged;

/** Folders under `fs` by what they complete: `u` the root, `u0`, `u1`, ... the host's folders; `w...` are the overlays' own. */
export const uppers = (ability: Ability, { root }: Source): { upper: string; work: string; layer: string; tree: string }[] => [
  { upper: 'u', work: 'w', layer: 'root', tree: '/' },
  ...(overlaysTrees(ability) ? root.trees.map((tree, index) => ({ upper: `u${index}`, work: `w${index}`, layer: `t${index}`, tree })) : []),
];

/** What has to be moved or copied to make a layer: folder under `fs` to name in the layer. */
export const layerParts = (ability: Ability, source: Source): readonly (readonly [upper: string, layer: string])[] => uppers(ability, source).map(({ upper, layer }) => [upper, layer] as const);

/** Mounts the root at `target`, with what is written to it in `fs`. Names are relative to the folder of mounts: a comma or a colon in a path would need escaping, and options have to fit a page. */
export function overlaySteps(ability: Ability, source: Source, fs: string, target: string): Step[] {
  const layers = Array.from({ length: source.layers }, (_, index) => `../snapshots/${source.folder!.split('/').at(-1)}/l${source.layers - 1 - index}`);
  return uppers(ability, source).map(({ upper, work, layer, tree }) => {
    const bottom = tree === '/' ? `../roots/${source.root.name}/fs` : tree;
    const lower = [...layers.map((each) => `${each}/${layer}`), bottom].join(':');
    return ['overlay', join(target, tree), `${overlayOptions(ability.marks)}lowerdir=${lower},upperdir=${fs}/${upper},workdir=${fs}/${work}`];
  });
}

/** The steps that become a sandbox. `id` stands in the command lines, by which anyone can find it. */
export function launchSteps(stateDir: string, ability: Ability, launch: Launch, id: string): Step[] {
  const { limits, work, build, source, user, writable } = launch;
  const mnt = mountFolder(stateDir);
  const inodes = Math.ceil(limits.disk / 4096) + 1024;
  return [
    ...launch.procs.map((file): Step => ['group', file]),
    ['chdir', mnt],
    separate(ability.privileged),
    // Not before: a user namespace holds all processes that its maker has outside to the limit of its maker.
    ...limitSteps(ability, limits),
    work === undefined ? ['tmpfs', 'fs', `size=${Math.floor(limits.disk)},nr_inodes=${inodes},mode=755`] : ['bind', work, 'fs'],
    ...uppers(ability, source).flatMap((each): Step[] => [['mkdir', `fs/${each.upper}`, 0o755], ['mkdir', `fs/${each.work}`, 0o755]]),
    // Root alone needs no more than its own.
    ['mkdir', 'fs/shm', build || user !== undefined ? 0o1777 : 0o755],
    ...overlaySteps(ability, source, 'fs', 'root'),
    ...(writable ?? []).map((path): Step => ['folder', 'root', path]),
    ...(user === undefined ? [] : ([['user', 'root', user], ['unshare-users']] as const)),
    ['alarm', launch.lifetimeSeconds],
    ['exec', ability.host.bwrap, ...bwrapArguments(mnt, ability, launch), '--', ...tool('sh'), '-s', id],
  ];
}

function bwrapArguments(mnt: string, ability: Ability, { network, build, source, resolvConf, user, writable }: Launch): string[] {
  // A package manager hands files to several users, so on behalf of root it runs without a user namespace, which would map only one.
  const several = build && ability.privileged;
  return [
    // Another user than root has a user namespace already.
    ...(several || user !== undefined ? [] : ['--unshare-user', '--uid', '0', '--gid', '0', ...(ability.host.disableUserns ? ['--disable-userns'] : [])]),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', ...(network !== 'full' ? ['--unshare-net'] : [])],
    ...['--die-with-parent', '--new-session', '--as-pid-1', '--hostname', 'sandbox', '--json-status-fd', String(STATUS_FD), '--cap-drop', 'ALL'],
    // Its first process stays root's: one that changed its user could not be ended by the one outside that it hangs from. It kills the user's.
    ...(user === undefined ? [] : ['--cap-add', 'CAP_KILL']),
    ...(several ? BUILD_CAPABILITIES.flatMap((name) => ['--cap-add', `CAP_${name.toUpperCase()}`]) : []),
    ...['--bind', join(mnt, 'root'), '/'],
    ...(overlaysTrees(ability) ? [] : source.root.trees.flatMap((tree) => ['--ro-bind', tree, tree])),
    // Kernel settings under /proc check for the machine's root user and not for capabilities, so nothing there can be written to at all.
    ...['--ro-bind', ability.tools, TOOLS, '--proc', '/proc', '--remount-ro', '/proc'],
    // What is in /dev counts as written by the sandbox too, so nothing but /dev/shm can be.
    ...['--dev', '/dev', '--bind', join(mnt, 'fs/shm'), '/dev/shm', '--remount-ro', '/dev'],
    ...(network === 'full' && resolvConf !== undefined ? ['--ro-bind', resolvConf, '/etc/resolv.conf'] : []),
    ...(writable === undefined ? [] : [...writable.flatMap((path) => ['--bind', join(mnt, 'root', path), path]), ...uppers(ability, source).flatMap(({ tree }) => ['--remount-ro', tree])]),
    ...['--chdir', '/'],
  ];
}

/** For what no control group keeps. */
function limitSteps({ cgroups, countsPids }: Ability, { memory, pids }: Limits): Step[] {
  return [
    ...(memory !== undefined && !cgroups.has('memory') ? [['limit', 'as', Math.ceil(memory)] as const] : []),
    ...(!cgroups.has('pids') && countsPids ? [['limit', 'nproc', pids] as const] : []),
  ];
}

/** The same as lines of bash, for a process that joins the sandbox. */
export const limitLines = (ability: Ability, limits: Limits): string[] => limitSteps(ability, limits).map(([, what, value]) => (what === 'as' ? `ulimit -v ${Math.ceil(Number(value) / 1024)}` : `ulimit -u ${value}`));
