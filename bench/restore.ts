/** From asking for a sandbox to the first byte that a command in it prints, for each provider, next to the bare tool with the same snapshot. */
import { spawn } from 'node:child_process';
import { Engine } from '../src/engine/engine.js';
import type { Provider, ProviderSnapshot } from '../src/sandbox/provider.js';
import { ownLimits } from '../src/sandbox/podman/kind.js';
import { bareWords, runHello } from './bubblewrap.js';
import { ms, sideBySide, type Figure } from './measure.js';

const ROUNDS = 9;

export async function restore(root: string): Promise<Figure[]> {
  const engine = await Engine.open({ root });
  try {
    const figures: Figure[] = [];
    for (const id of ['bubblewrap', 'docker', 'podman']) figures.push(await restoreOn(engine, root, id));
    return figures;
  } finally {
    await engine.close();
  }
}

async function restoreOn(engine: Engine, root: string, id: string): Promise<Figure> {
  const provider = await engine.providers.get(id);
  const health = await provider.check();
  const what = `${provider.title}: restore of files to first output, one alone`;
  if (!health.ok) return { what, ours: 'not measured', floor: health.summary, ratio: '', target: '', met: undefined };
  await runHello(engine, id, 8, 8);
  const snapshot = (await engine.snapshots.list()).find((each) => each.provider === id)!;
  const words = id === 'bubblewrap' ? [...(await bareWords(engine, root)), '0'] : [id, ...(id === 'podman' ? remote(engine) : []), 'run', ...(id === 'podman' ? await limits() : []), '--rm', '--network', 'none', snapshot.ref, 'sh', '-c', 'echo 1'];
  const { ours, bare, ratio } = await sideBySide(
    ROUNDS,
    () => firstOutput(provider, snapshot, engine.owner),
    () => bareFirstOutput(words),
  );
  return { what, ours: ms(ours), floor: `${ms(bare)} (${id === 'bubblewrap' ? 'the same command' : `${id} run --rm`})`, ratio: ratio.toFixed(2), target: '', met: undefined };
}

/** Podman's command line talks to the service that ours talks to. */
const remote = ({ caller }: Engine): string[] => (caller.environment.CONTAINER_HOST ? ['--url', caller.environment.CONTAINER_HOST] : []);

/** Where root may not raise its limits Podman has to be told not to. */
const limits = async (): Promise<string[]> => (await ownLimits()).flatMap(({ Name, Soft, Hard }) => ['--ulimit', `${Name}=${Soft}:${Hard}`]);

async function firstOutput(provider: Provider, snapshot: ProviderSnapshot, owner: string): Promise<number> {
  const start = performance.now();
  const sandbox = await provider.restore(snapshot, { labels: { owner, expires: Date.now() + 60_000 }, resources: {}, env: {}, network: 'none', lifetimeMs: 60_000 });
  try {
    const child = sandbox.exec(['sh', '-c', 'echo 1'], { timeoutMs: 30_000 });
    const first = new Promise<number>((resolve) => child.stdout.once('data', () => resolve(performance.now() - start)));
    child.stderr.resume();
    const { code } = await child.exit;
    if (code !== 0) throw new Error(`the command ended with exit code ${code}`);
    return await first;
  } finally {
    await sandbox.terminate();
  }
}

/** Resolves when the command has ended, too: the next one begins on a machine that is idle. */
function bareFirstOutput([command, ...args]: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    let first: number | undefined;
    const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.on('data', () => (first ??= performance.now() - start));
    child.on('error', reject);
    child.on('close', (code) => (code === 0 && first !== undefined ? resolve(first) : reject(new Error(`${command} ended with exit code ${code}`))));
  });
}
