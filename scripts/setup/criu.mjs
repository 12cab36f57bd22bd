// CRIU, which memory snapshots of processes need. Where Debian's own is missing or does not work on this kernel (that of trixie does not), a later
// one is unpacked aside, with its libraries, and a wrapper put on root's PATH: engines start it by its name.
import { access, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../lib/command.mjs';
import { findProgram } from '../lib/find.mjs';
import { withLock } from '../lib/lock.mjs';
import { step } from '../lib/steps.mjs';
import { canInstall, debianMirror } from './apt.mjs';
import { cacheFolder } from './cache.mjs';

const SUITE = 'forky';
/** Since Linux 6.16 no older CRIU can save a socket (https://github.com/checkpoint-restore/criu/issues/2705), and `criu check` does not say so. */
const KERNEL = [6, 16];
const FOR_KERNEL = [4, 2];
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const WRAPPER = '/usr/local/sbin/criu';
const MINUTES = 60_000;

/**
 * @returns {Promise<string | undefined>} why processes cannot be checkpointed here, in one line
 */
export function ensureCriu() {
  return withLock(cacheFolder('criu.lock'), async () => {
    if (await works()) return undefined;
    if (process.platform !== 'linux' || process.getuid() !== 0) return 'CRIU needs root';
    if (!(await canInstall()) || !(await exists(KEYRING))) return 'no CRIU that works is installed, and none can be installed here';
    const root = await unpacked();
    const loader = await findLoader(root);
    const libraries = join(root, 'usr/lib', multiarch());
    await writeFile(WRAPPER, `#!/bin/sh\nexec ${loader} --library-path ${libraries} ${join(root, 'usr/sbin/criu')} "$@"\n`, { mode: 0o755 });
    return (await works()) ? undefined : `CRIU does not work on this kernel: ${(await check()).output.trim().split('\n').at(-1)}`;
  });
}

const exists = (path) => access(path).then(() => true, () => false);

const check = () => run('criu', ['check'], { timeoutMs: 30_000, allowFailure: true });

async function works() {
  if ((await findProgram('criu')) === undefined || !(await check().then(({ code }) => code === 0, () => false))) return false;
  const { output } = await run('criu', ['--version'], { timeoutMs: 30_000 });
  return !atLeast(release(), KERNEL) || atLeast(output, FOR_KERNEL);
}

const numbers = (text) => /(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number) ?? [0, 0];
const atLeast = (text, [major, minor]) => {
  const [ours, own] = numbers(text);
  return ours > major || (ours === major && own >= minor);
};

const multiarch = () => `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;

async function findLoader(root) {
  for (const folder of ['usr/lib64', 'usr/lib']) {
    const names = (await readdir(join(root, folder)).catch(() => [])).filter((name) => /^ld-linux-.*\.so\.\d+$/.test(name));
    if (names[0]) return join(root, folder, names[0]);
  }
  throw new Error(`${root} holds no dynamic loader`);
}

/** Root folder with CRIU and what it needs; made once. */
async function unpacked() {
  const root = cacheFolder(`criu-${SUITE}`);
  if (await exists(root)) return root;
  await step(`Unpacked CRIU of Debian ${SUITE}`, async () => {
    await mkdir(cacheFolder(), { recursive: true });
    const work = await mkdtemp(cacheFolder('criu-'));
    try {
      await download(work);
      const archives = (await readdir(join(work, 'archives'))).filter((name) => name.endsWith('.deb'));
      for (const archive of archives) await run('dpkg-deb', ['-x', join(work, 'archives', archive), join(work, 'root')]);
      await rename(join(work, 'root'), root);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
  return root;
}

/** Fetches the package and all it depends on, as if nothing were installed; the machine's own lists of packages stay as they are. */
async function download(work) {
  for (const folder of ['lists/partial', 'archives/partial', 'root']) await mkdir(join(work, folder), { recursive: true });
  await writeFile(join(work, 'status'), '');
  await writeFile(join(work, 'sources.list'), `deb [signed-by=${KEYRING}] ${await debianMirror()} ${SUITE} main\n`);
  const settings = {
    'Dir::Etc::sourcelist': join(work, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::Lists': join(work, 'lists'),
    'Dir::State::status': join(work, 'status'),
    'Dir::Cache': work,
    'Dir::Cache::archives': join(work, 'archives'),
    'APT::Sandbox::User': 'root',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await run('apt-get', ['-qq', ...options, 'update'], { timeoutMs: 5 * MINUTES });
  await run('apt-get', ['-qq', '-y', ...options, '--download-only', '--no-install-recommends', 'install', 'criu'], { timeoutMs: 5 * MINUTES });
}

async function main() {
  const missing = await ensureCriu();
  if (missing) console.error(missing);
  process.exitCode = missing ? 1 : 0;
}

// Not awaited: this module is also loaded where a module may not wait.
if (process.argv[1] === fileURLToPath(import.meta.url)) void main();
