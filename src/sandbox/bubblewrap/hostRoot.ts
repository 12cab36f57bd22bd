/**
 * The default root: the host's programs under /usr, and everything else made here. Of the host's /etc only what programs need to run is
 * taken; nothing of its /root, /home, /var, /opt or /run is ever visible inside.
 */
import { createHash } from 'node:crypto';
import { access, chmod, cp, lstat, mkdir, readFile, readdir, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Raised when the same host would be given another root, so that cached builds are not taken for current. */
const VERSION = '2';

/** Names at the top that are links into /usr on most systems, and folders on some. */
const PROGRAM_FOLDERS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

/** In /etc: what the loader, the C library, shells and interpreters look for. `*` is any rest of a name. */
const ETC = [
  'alternatives', 'bash.bashrc', 'ca-certificates', 'ca-certificates.conf', 'debian_version', 'gai.conf', 'host.conf', 'inputrc', 'java-*', 'ld.so.cache', 'ld.so.conf',
  'ld.so.conf.d', 'locale.alias', 'locale.gen', 'localtime', 'magic', 'magic.mime', 'mime.types', 'nsswitch.conf', 'os-release', 'pki/ca-trust', 'pki/tls/certs', 'profile',
  'protocols', 'python3*', 'rpc', 'services', 'shells', 'ssl/certs', 'ssl/openssl.cnf', 'terminfo', 'timezone', 'xattr.conf',
];

/** What Debian's package manager and its scripts look for, besides. */
const ETC_OF_PACKAGES = [
  'adduser.conf', 'apt/apt.conf', 'apt/apt.conf.d', 'apt/keyrings', 'apt/preferences', 'apt/preferences.d', 'apt/sources.list', 'apt/sources.list.d', 'apt/trusted.gpg',
  'apt/trusted.gpg.d', 'debconf.conf', 'deluser.conf', 'dpkg', 'login.defs', 'pam.conf', 'pam.d', 'perl', 'security', 'skel',
];

/** A name and a password in front of a host's name: such a file stays outside. */
const CREDENTIALS = /:\/\/[^/\s]*@/;

export interface HostRoot {
  readonly digest: string;
  /** Folders of the host that the root is completed with. */
  readonly trees: readonly string[];
}

/** What the root is made from: its digest changes when the host's system or its installed packages do. */
export async function describeHostRoot(packages: boolean): Promise<HostRoot> {
  const hash = createHash('sha256').update(`${VERSION} ${packages} ${process.getuid?.()}\n`);
  for (const file of ['/etc/os-release', '/var/lib/dpkg/status']) hash.update(await readFile(file).catch(() => ''));
  for (const file of ['/var/lib/rpm/rpmdb.sqlite', '/usr/lib/sysimage/rpm/rpmdb.sqlite', '/var/lib/pacman/local', '/lib/apk/db/installed']) hash.update(await stat(file).then(({ mtimeMs }) => `${mtimeMs}`, () => ''));
  const trees = ['/usr'];
  for (const name of PROGRAM_FOLDERS) if (await isFolder(`/${name}`)) trees.push(`/${name}`);
  // Without it apt would take nothing for installed, and install the whole system again.
  if (packages && (await isFolder('/var/lib/dpkg'))) trees.push('/var/lib/dpkg');
  return { digest: `sha256:${hash.update(trees.join()).digest('hex')}`, trees };
}

/** Makes the part of the root that is not taken from the host as it is. `folder` must not exist. */
export async function makeHostRoot(folder: string, { trees }: HostRoot, packages: boolean): Promise<void> {
  const make = async (path: string, mode = 0o755): Promise<void> => {
    await mkdir(join(folder, path), { recursive: true });
    await chmod(join(folder, path), mode);
  };
  await make('.');
  for (const name of ['dev', 'etc', 'home', 'media', 'mnt', 'opt', 'proc', 'run', 'srv', 'usr', 'var', 'var/cache', 'var/lib', 'var/log', 'var/spool']) await make(name);
  for (const tree of trees) await make(tree);
  await make('root', 0o700);
  await make('tmp', 0o1777);
  await make('var/tmp', 0o1777);
  await symlink('/run', join(folder, 'var/run'));
  for (const name of PROGRAM_FOLDERS) {
    const target = await readlink(`/${name}`).catch(() => undefined);
    if (target !== undefined) await symlink(target, join(folder, name));
  }
  for (const pattern of packages ? [...ETC, ...ETC_OF_PACKAGES] : ETC) await copyEtc(pattern, join(folder, 'etc'));
  await writeUsers(join(folder, 'etc'));
  await writeFile(join(folder, 'etc/hosts'), '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n');
  await writeFile(join(folder, 'etc/hostname'), 'sandbox\n');
  await writeFile(join(folder, 'etc/resolv.conf'), '');
}

async function copyEtc(pattern: string, etc: string): Promise<void> {
  const names = pattern.endsWith('*') ? (await readdir('/etc')).filter((name) => name.startsWith(pattern.slice(0, -1))) : [pattern];
  for (const name of names) {
    await mkdir(dirname(join(etc, name)), { recursive: true });
    // What cannot be read by this user, or is not there, is not needed either.
    await cp(join('/etc', name), join(etc, name), { recursive: true, verbatimSymlinks: true, filter: isHarmless }).catch(() => undefined);
  }
}

async function isHarmless(source: string): Promise<boolean> {
  const info = await lstat(source);
  if (info.isDirectory() || info.isSymbolicLink()) return true;
  if (!info.isFile() || !(await access(source).then(() => true, () => false))) return false;
  return !source.startsWith('/etc/apt/') || info.size > 65_536 || !CREDENTIALS.test(await readFile(source, 'latin1'));
}

/** The system's own users and groups, without passwords: what is installed refers to them by name. People are not taken. */
async function writeUsers(etc: string): Promise<void> {
  const lines = async (file: string): Promise<string[][]> => (await readFile(file, 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  const isOurs = ([, , id]: string[]): boolean => Number(id) < 1000 || Number(id) === 65534;
  const users = (await lines('/etc/passwd')).filter((user) => user.length === 7 && isOurs(user));
  const groups = (await lines('/etc/group')).filter((group) => group.length === 4 && isOurs(group));
  if (!users.some(([, , id]) => id === '0')) users.unshift(['root', 'x', '0', '0', 'root', '/root', '/bin/sh']);
  if (!groups.some(([, , id]) => id === '0')) groups.unshift(['root', 'x', '0', '']);
  const passwd = users.map(([name, , uid, gid, about, home, shell]) => [name, 'x', uid, gid, about, home, shell].join(':'));
  await writeFile(join(etc, 'passwd'), `${passwd.join('\n')}\n`);
  await writeFile(join(etc, 'group'), `${groups.map(([name, , gid]) => `${name}:x:${gid}:`).join('\n')}\n`);
  await writeFile(join(etc, 'shadow'), `${users.map(([name]) => `${name}:*:19000:0:99999:7:::`).join('\n')}\n`, { mode: 0o640 });
  await writeFile(join(etc, 'gshadow'), `${groups.map(([name]) => `${name}:*::`).join('\n')}\n`, { mode: 0o640 });
}

const isFolder = (path: string): Promise<boolean> =>
  lstat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
