/** From asking for a sandbox to the first byte that a command in it prints, for each provider, next to the bare tool with the same snapshot. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Engine } from '../src/engine/engine.js';
import type { Provider, ProviderSnapshot, SandboxSpec } from '../src/sandbox/provider.js';
import { ownLimits } from '../src/sandbox/podman/kind.js';
import { bareWords, runHello } from './bubblewrap.js';
import { execute, ms, sideBySide, type Figure } from './measure.js';

const ROUNDS = 9;

export async function restore(root: string): Promise<Figure[]> {
  const engine = await Engine.open({ root });
  try {
    const figures: Figure[] = [];
    for (const id of ['bubblewrap', 'docker', 'podman']) figures.push(await restoreOn(engine, root, id));
    figures.push(await restoreOfMemory(engine));
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

/** Of a sandbox with a process that goes on where it was. */
async function restoreOfMemory(engine: Engine): Promise<Figure> {
  const provider = await engine.providers.get('podman');
  const health = await provider.check();
  const what = 'Podman: restore of memory to first output, one alone';
  const missing = health.ok ? health.noMemorySnapshots : health.summary;
  if (missing !== undefined) return { what, ours: 'not measured', floor: missing, ratio: '', target: '', met: undefined };
  const files = (await engine.snapshots.list()).find((each) => each.provider === 'podman')!;
  const sandbox = await provider.restore(files, specOf(engine.owner));
  let snapshot: ProviderSnapshot | undefined;
  try {
    const child = sandbox.exec(['sh', '-c', 'sleep 3600 >/dev/null 2>&1 & echo up']);
    child.stdout.resume();
    child.stderr.resume();
    await child.exit;
    snapshot = await sandbox.snapshot('memory');
    const memory = snapshot;
    const folder = engine.layout.providerState('podman');
    const archive = (await readdir(folder, { recursive: true })).find((name) => name.endsWith(`${memory.ref}/archive.tar`))!;
    const podman = ['podman', ...remote(engine)];
    const { ours, bare, ratio } = await sideBySide(
      ROUNDS,
      () => firstOutput(provider, memory, engine.owner),
      async () => {
        const name = `bench-${randomBytes(4).toString('hex')}`;
        const start = performance.now();
        await execute(podman[0]!, [...podman.slice(1), 'container', 'restore', '--import', join(folder, archive), '--name', name]);
        await bareFirstOutput([...podman, 'exec', name, 'sh', '-c', 'echo 1']);
        const total = performance.now() - start;
        await execute(podman[0]!, [...podman.slice(1), 'rm', '--force', '--time', '0', name]);
        return total;
      },
    );
    return { what, ours: ms(ours), floor: `${ms(bare)} (podman container restore, podman exec)`, ratio: ratio.toFixed(2), target: '', met: undefined };
  } finally {
    await sandbox.terminate();
    if (snapshot) await provider.removeSnapshot(snapshot);
  }
}

/** Podman's command line talks to the service that ours talks to. */
const remote = ({ caller }: Engine): string[] => (caller.environment.CONTAINER_HOST ? ['--url', caller.environment.CONTAINER_HOST] : []);

/** Where root may not raise its limits Podman has to be told not to. */
const limits = async (): Promise<string[]> => (await ownLimits()).flatMap(({ Name, Soft, Hard }) => ['--ulimit', `${Name}=${Soft}:${Hard}`]);

const specOf = (owner: string): SandboxSpec => ({ labels: { owner, expires: Date.now() + 600_000 }, resources: {}, env: {}, network: 'none', lifetimeMs: 600_000 });

async function firstOutput(provider: Provider, snapshot: ProviderSnapshot, owner: string): Promise<number> {
  const start = performance.now();
  const sandbox = await provider.restore(snapshot, specOf(owner));
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
