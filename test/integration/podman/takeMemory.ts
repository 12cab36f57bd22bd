/** A process of its own that takes memory snapshots of a sandbox, to be killed meanwhile: `takeMemory.ts STATE_DIR SNAPSHOT`. Prints the sandbox's id before the first. */
import { createProvider } from '../../../src/sandbox/podman/index.js';
import { currentOwner } from '../../../src/sandbox/owner.js';
import type { ProviderSnapshot } from '../../../src/sandbox/provider.js';

async function main(stateDir: string, snapshot: string): Promise<void> {
  const provider = createProvider({ stateDir, log: () => undefined });
  const labels = { owner: await currentOwner(), run: 'torn', expires: Date.now() + 600_000 };
  const sandbox = await provider.restore(JSON.parse(snapshot) as ProviderSnapshot, { labels, resources: {}, env: {}, network: 'none', lifetimeMs: 600_000 });
  // So much memory that its archive is under way for a while.
  const child = sandbox.exec(['sh', '-c', `setsid python3 -c 'import os, time; kept = os.urandom(64 << 20); open("/tmp/there", "w"); time.sleep(600)' </dev/null >/dev/null 2>&1 & while ! [ -e /tmp/there ]; do sleep 0.1; done`]);
  child.stdout.resume();
  child.stderr.resume();
  await child.exit;
  console.log(sandbox.id);
  await sandbox.snapshot('memory');
}

void main(...(process.argv.slice(2) as [string, string]));
