// A complete VS Code server from npm, for tests that need a real VS Code where none can be downloaded. Its native modules are compiled for
// the Node that it comes with, which takes minutes: it is kept in a cache outside the clone.
import { mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { findProgram } from '../lib/find.mjs';
import { withLock } from '../lib/lock.mjs';
import { run } from '../lib/command.mjs';
import { step } from '../lib/steps.mjs';
import { canInstall, install, missing } from './apt.mjs';
import { cacheFolder } from './cache.mjs';
import { npm } from './dependencies.mjs';

const VERSION = '4.139.1';
/** The Node that this version is made for. */
const NODE = { package: `node-${process.platform}-${process.arch}`, version: '24' };
const BUILD_PACKAGES = ['build-essential', 'python3', 'pkg-config', 'libkrb5-dev'];

const folder = () => cacheFolder(`vscode-${VERSION}`);
const layout = (root) => ({
  node: join(root, 'node_modules', NODE.package, 'bin', 'node'),
  serverMain: join(root, 'node_modules', 'code-server', 'lib', 'vscode', 'out', 'server-main.js'),
});

/** The server in the cache, or undefined. */
export async function findVsCode() {
  const complete = await readFile(join(folder(), 'complete'), 'utf8').catch(() => undefined);
  return complete === undefined ? undefined : layout(folder());
}

/** Whether a desktop VS Code can be downloaded, said within three seconds. */
export async function canDownloadVsCode() {
  const { ok } = await fetch('https://update.code.visualstudio.com/api/releases/stable', { method: 'HEAD', signal: AbortSignal.timeout(3_000) }).catch(() => ({ ok: false }));
  return ok;
}

async function build(root) {
  const [command, ...args] = npm();
  await writeFile(join(root, 'package.json'), JSON.stringify({ private: true }));
  const flags = ['--no-audit', '--no-fund', '--loglevel=error'];
  const options = { cwd: root, timeoutMs: 1_200_000 };
  await run(command, [...args, 'install', `${NODE.package}@${NODE.version}`, ...flags], options);
  const { node, serverMain } = layout(root);
  const nodeRoot = dirname(dirname(node));
  // npm itself and each install script must run under that Node, and compile against its headers.
  const env = { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}`, npm_config_nodedir: nodeRoot };
  // Under `npm test` it names the Node of that npm, and install scripts believe it.
  delete env.npm_config_user_agent;
  await run(args.length ? node : command, [...args, 'install', `code-server@${VERSION}`, ...flags], { ...options, env });
  await run(node, [serverMain, '--version'], { cwd: root });
}

/** Removes what killed installs have left; the caller holds the lock. */
async function removeAbandoned() {
  const names = await readdir(cacheFolder());
  await Promise.all(names.filter((name) => name.startsWith(`${basename(folder())}-`)).map((name) => rm(cacheFolder(name), { recursive: true, force: true })));
}

/**
 * Finds the server, or installs it.
 * @returns {Promise<{ node: string, serverMain: string } | { missing: string }>} `missing` says why it cannot be had, in one line.
 */
export async function ensureVsCode() {
  const found = await findVsCode();
  if (found) return found;
  if (process.platform === 'win32') return { missing: 'the VS Code server of npm has no Windows version' };
  if (await canInstall()) {
    const packages = await missing(...BUILD_PACKAGES);
    if (packages.length) await install(...packages);
  } else if (!(await findProgram('c++')) || !(await findProgram('python3'))) {
    return { missing: 'the VS Code server of npm needs a C++ compiler and python3 to install' };
  }
  await withLock(`${folder()}.lock`, async () => {
    if (await findVsCode()) return;
    await removeAbandoned();
    await step('Installed a VS Code server', async () => {
      // Made aside and moved into place when it is whole: a killed install leaves nothing that looks like one.
      const aside = await mkdtemp(`${folder()}-`);
      try {
        await build(aside);
        await writeFile(join(aside, 'complete'), '');
        await rm(folder(), { recursive: true, force: true });
        await rename(aside, folder());
      } finally {
        await rm(aside, { recursive: true, force: true });
      }
    });
  });
  return layout(folder());
}
