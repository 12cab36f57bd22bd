// Installs the npm packages of the lock file, where they are not there already.
import { readFile } from 'node:fs/promises';
import { run } from '../lib/command.mjs';
import { step } from '../lib/steps.mjs';

const read = async (file) => JSON.parse(await readFile(file, 'utf8')).packages;

/** Whether what npm says it installed is what the lock file asks for. npm writes its own list last, so a killed install has none. */
export async function dependenciesInstalled() {
  try {
    const [wanted, installed] = await Promise.all([read('package-lock.json'), read('node_modules/.package-lock.json')]);
    const missing = Object.entries(wanted).some(([path, entry]) => path && !installed[path] && !entry.optional && !entry.devOptional && !entry.peer);
    return !missing && Object.entries(installed).every(([path, entry]) => entry.version === wanted[path]?.version && entry.integrity === wanted[path]?.integrity);
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Command and leading arguments of the npm that runs us, or of the one on PATH. */
export function npm() {
  const cli = process.env.npm_execpath;
  return cli && /npm-cli\.[cm]?js$/.test(cli) ? [process.execPath, cli] : [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
}

export async function ensureDependencies() {
  if (await dependenciesInstalled()) return;
  const [command, ...args] = npm();
  await step('Installed npm packages', () => run(command, [...args, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], { timeoutMs: 900_000 }));
}
