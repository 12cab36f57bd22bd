// A Debian base image made from packages, for machines that reach a Debian mirror but no image registry.
import { createHash } from 'node:crypto';
import { access, chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../lib/command.mjs';
import { step } from '../lib/steps.mjs';
import { debianMirror } from './apt.mjs';
import { cacheFolder } from './cache.mjs';

/** What there is: the suite and the packages of each. */
const BASES = {
  base: { suite: 'bookworm', packages: ['ca-certificates', 'python3'] },
  gymnasium: { suite: 'forky', packages: ['python3', 'python3-gymnasium'] },
};
/** Good for every suite of these years, and there for those that this debootstrap has not heard of. */
const SCRIPT = '/usr/share/debootstrap/scripts/sid';
/** What the real slim image has not got either, and what a running system makes itself. */
const LEFT_OUT = ['./var/lib/apt/lists/*', './var/cache/apt/*', './usr/share/doc/*', './usr/share/man/*', './usr/share/locale/*', './var/log/*', './dev/*'];

/**
 * Path of a tar of the root folder; made once, and kept outside the clone under a name that says what is in it. Needs root and debootstrap.
 * @param {keyof typeof BASES} name
 */
export async function baseImageTar(name = 'base') {
  const { suite, packages } = BASES[name];
  const key = createHash('sha256').update(JSON.stringify([suite, packages, LEFT_OUT, process.arch])).digest('hex').slice(0, 12);
  const tar = cacheFolder(`${name}-${suite}-${key}.tar`);
  if (await access(tar).then(() => true, () => false)) return tar;
  await step(`Made a Debian ${suite} image (${packages.join(', ')})`, () => make(tar, suite, packages));
  return tar;
}

/** The same as a folder, for providers that start from one. */
export async function baseImageFolder(name) {
  const tar = await baseImageTar(name);
  const folder = tar.replace(/\.tar$/, '');
  if (await access(folder).then(() => true, () => false)) return folder;
  const work = await mkdtemp(cacheFolder('unpack-'));
  try {
    await run('tar', ['--numeric-owner', '-C', work, '-xf', tar], { timeoutMs: 300_000 });
    await chmod(work, 0o755);
    await rename(work, folder);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

async function make(tar, suite, packages) {
  await mkdir(cacheFolder(), { recursive: true });
  const work = await mkdtemp(cacheFolder('debootstrap-'));
  try {
    const root = join(work, 'root');
    await run('debootstrap', ['--variant=minbase', `--include=${packages.join(',')}`, suite, root, await debianMirror(), SCRIPT], { timeoutMs: 900_000 });
    const excluded = LEFT_OUT.map((path) => `--exclude=${path}`);
    await run('tar', ['--numeric-owner', ...excluded, '-C', root, '-cf', join(work, 'base.tar'), '.'], { timeoutMs: 300_000 });
    await rename(join(work, 'base.tar'), tar);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
