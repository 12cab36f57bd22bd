/** A process of its own that makes a sandbox and then hangs, to be killed: `orphan.ts PROVIDER STATE_DIR SNAPSHOT`. Prints `{id, owner}`. */
import { currentOwner } from '../../../src/sandbox/owner.js';
import type { ProviderSnapshot } from '../../../src/sandbox/provider.js';
import { openProvider } from '../../../src/sandbox/registry.js';

async function main(id: string, stateDir: string, snapshot: string): Promise<void> {
  const provider = await openProvider(id, { stateDir, log: () => undefined });
  const owner = await currentOwner();
  const labels = { owner, run: 'orphan', expires: Date.now() + 600_000 };
  const sandbox = await provider.restore(JSON.parse(snapshot) as ProviderSnapshot, { labels, resources: {}, env: {}, network: 'none', lifetimeMs: 600_000 });
  const busy = sandbox.exec(['sh', '-c', 'echo up; sleep 300']);
  busy.stderr.resume();
  busy.stdout.once('data', () => console.log(JSON.stringify({ id: sandbox.id, owner })));
  setInterval(() => undefined, 60_000);
}

void main(...(process.argv.slice(2) as [string, string, string]));
