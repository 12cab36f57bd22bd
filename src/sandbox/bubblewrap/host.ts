/** What of the host's programs and kernel there is to work with. */
import { access, constants, readFile, realpath } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { runCommand } from '../command.js';
import { ProviderUnavailable } from '../errors.js';
import { starterArguments } from './starterProgram.js';

/** Programs of the host, as absolute paths: what runs with privileges is not looked up again by name. */
export interface Host {
  readonly bash: string;
  readonly bwrap: string;
  readonly chmod: string;
  readonly cp: string;
  readonly du: string;
  readonly ldd: string;
  readonly mkfifo: string;
  readonly nsenter: string;
  readonly perl: string;
  readonly sh: string;
  readonly tar: string;
  /** `0.8.0` */
  readonly version: string;
  /** Whether bubblewrap can forbid further user namespaces inside (0.8 and later). */
  readonly disableUserns: boolean;
}

/** Environment of programs of the host: nothing of a sandbox's own, which could tell their loader what to load. */
export const HOST_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' };

const PROGRAMS = ['bash', 'bwrap', 'chmod', 'cp', 'du', 'ldd', 'mkfifo', 'nsenter', 'perl', 'sh', 'tar'] as const;

/** @throws ProviderUnavailable that names the package that is missing */
export async function findHost(signal?: AbortSignal): Promise<Host> {
  if (process.platform !== 'linux') throw new ProviderUnavailable('bubblewrap needs Linux', 'use the docker provider, or run inside WSL or a Linux machine');
  const found = await Promise.all(PROGRAMS.map(async (name) => [name, await which(name)] as const));
  const missing = found.filter(([, path]) => path === undefined).map(([name]) => name);
  if (!starterArguments('once')) throw new ProviderUnavailable(`bubblewrap sandboxes are not supported on ${process.arch}`, 'use the docker provider');
  if (missing.includes('bwrap')) throw new ProviderUnavailable('bubblewrap is not installed', 'install it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora)');
  if (missing.length) throw new ProviderUnavailable(`${missing.join(' and ')} cannot be found`, 'install bash, coreutils, perl, tar and util-linux');
  const host = Object.fromEntries(found) as Record<(typeof PROGRAMS)[number], string>;
  const { stdout } = await runCommand(host.bwrap, ['--version'], { signal });
  const version = /(\d+)\.(\d+)(\.\d+)?/.exec(stdout);
  if (!version) throw new ProviderUnavailable(`${host.bwrap} does not tell its version`, 'install bubblewrap 0.5 or later');
  return { ...host, version: version[0], disableUserns: Number(version[1]) > 0 || Number(version[2]) >= 8 };
}

/** Absolute path of a program, looked for in PATH and where administrators' programs are. */
export async function which(name: string): Promise<string | undefined> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
  for (const folder of folders.filter((each) => each.startsWith('/'))) {
    const path = join(folder, name);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}

/** Why an ordinary user is kept from making namespaces here, if that can be told, as a hint for a person. */
export async function namespaceHint(): Promise<string> {
  const setting = (path: string): Promise<string> => readFile(`/proc/sys/${path}`, 'latin1').then((text) => text.trim(), () => '');
  if ((await setting('kernel/apparmor_restrict_unprivileged_userns')) === '1')
    return 'AppArmor restricts user namespaces here: allow them with `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or give bwrap and unshare an AppArmor profile with `userns`';
  if ((await setting('kernel/unprivileged_userns_clone')) === '0') return 'user namespaces are switched off: `sudo sysctl kernel.unprivileged_userns_clone=1`';
  if ((await setting('user/max_user_namespaces')) === '0') return 'user namespaces are switched off: `sudo sysctl user.max_user_namespaces=15000`';
  return 'inside a container, it must be allowed to make namespaces (for Docker: --privileged, or --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined); else use the docker provider';
}

/** Where the resolver's settings really lie, for sandboxes that have a network. */
export const resolvConf = (): Promise<string | undefined> => realpath('/etc/resolv.conf').catch(() => undefined);
