// Debian packages, where there is apt and it may be used.
import { readFile } from 'node:fs/promises';
import { findProgram } from '../lib/find.mjs';
import { run } from '../lib/command.mjs';
import { step } from '../lib/steps.mjs';

const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
let updated = false;

/** Whether this process may install Debian packages without asking. */
export async function canInstall() {
  return process.platform === 'linux' && process.getuid() === 0 && (await findProgram('apt-get')) !== undefined;
}

async function aptGet(...args) {
  // Another apt may be at work on a machine that has just started.
  await run('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], { env, timeoutMs: 900_000 });
}

/** Installs packages; the package lists are fetched once in a process. */
export async function install(...packages) {
  await step(`Installed ${packages.join(', ')}`, async () => {
    if (!updated) await aptGet('update');
    updated = true;
    await aptGet('install', '-y', '--no-install-recommends', ...packages);
  });
}

/** The names of those packages that are not installed. */
export async function missing(...packages) {
  const { output } = await run('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Abbrev}\\n', ...packages], { allowFailure: true });
  const installed = new Set(output.split('\n').filter((line) => / ii? ?$/.test(line)).map((line) => line.split(' ')[0]));
  return packages.filter((name) => !installed.has(name));
}

/** Where this machine gets the packages of its own Debian from. Throws one sentence if its lists do not say. */
export async function debianMirror() {
  const codename = /^VERSION_CODENAME=(\S+)/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1];
  const look = async () => {
    const { output } = await run('apt-get', ['indextargets', '--format', '$(RELEASE) $(REPO_URI)', 'Created-By: Packages'], { allowFailure: true });
    return new RegExp(`^${codename} (\\S+)`, 'm').exec(output)?.[1];
  };
  let mirror = await look();
  if (mirror === undefined) {
    await aptGet('update');
    mirror = await look();
  }
  if (mirror === undefined) throw new Error(`apt knows no mirror of Debian ${codename ?? ''}`);
  return mirror.replace(/\/$/, '');
}
