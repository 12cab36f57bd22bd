// gVisor, as a second runtime of the tests' own Docker engine.
import { writeFile } from 'node:fs/promises';
import { run } from '../lib/command.mjs';
import { findProgram } from '../lib/find.mjs';
import { canInstall, install } from './apt.mjs';

/**
 * Writes a configuration for dockerd in which `runsc` is a runtime.
 * @returns {Promise<string[]>} arguments of dockerd; none where gVisor cannot be had, and the tests that need it say that the engine has none
 */
export async function gvisorArguments(file) {
  const path = await ensureRunsc();
  if (path === undefined) return [];
  // No network: Debian 12's cannot tell the network namespace of the machine from another on later kernels, and the tests need none. Later versions
  // have to be told to write to the container's own root.
  const { code } = await run(path, ['--overlay2=none', '--version'], { timeoutMs: 20_000, allowFailure: true });
  const runtimeArgs = ['--network=none', ...(code === 0 ? ['--overlay2=none'] : [])];
  await writeFile(file, JSON.stringify({ runtimes: { runsc: { path, runtimeArgs } } }));
  return ['--config-file', file];
}

async function ensureRunsc() {
  const found = await findProgram('runsc');
  if (found || !(await canInstall())) return found;
  await install('runsc').catch((error) => console.error(`gVisor cannot be installed: ${error.message.replaceAll(/\s+/g, ' ')}`));
  return findProgram('runsc');
}
