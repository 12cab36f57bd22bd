// A Debian base image made from packages, for machines that reach a Debian mirror but no image registry.
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../lib/command.mjs';
import { step } from '../lib/steps.mjs';
import { cacheFolder } from './cache.mjs';

const SUITE = 'bookworm';
const PACKAGES = ['ca-certificates', 'python3'];
/** What the real slim image has not got either, and what a running system makes itself. */
const LEFT_OUT = ['./var/lib/apt/lists/*', './var/cache/apt/*', './usr/share/doc/*', './usr/share/man/*', './usr/share/locale/*', './var/log/*', './dev/*'];

/** Path of a tar of the root folder; made once, and kept outside the clone under a name that says what is in it. Needs root and debootstrap. */
export async function baseImageTar() {
  const key = createHash('sha256').update(JSON.stringify([SUITE, PACKAGES, LEFT_OUT, process.arch])).digest('hex').slice(0, 12);
  const tar = cacheFolder(`base-${SUITE}-${key}.tar`);
  if (await access(tar).then(() => true, () => false)) return tar;
  await step(`Made a Debian ${SUITE} base image`, () => make(tar));
  return tar;
}

async function make(tar) {
  await mkdir(cacheFolder(), { recursive: true });
  const work = await mkdtemp(cacheFolder('debootstrap-'));
  try {
    const root = join(work, 'root');
    await run('debootstrap', ['--variant=minbase', `--include=${PACKAGES.join(',')}`, SUITE, root], { timeoutMs: 900_000 });
    const excluded = LEFT_OUT.map((path) => `--exclude=${path}`);
    await run('tar', ['--numeric-owner', ...excluded, '-C', root, '-cf', join(work, 'base.tar'), '.'], { timeoutMs: 300_000 });
    await rename(join(work, 'base.tar'), tar);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
