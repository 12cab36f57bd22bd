/** The run of 512 hello episodes, and one restore, against the same bubblewrap command started bare. */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Engine } from '../src/engine/engine.js';
import { loadTemplate } from '../src/template/load.js';
import { bareLoop, execute, ms, sideBySide, timed, type Figure } from './measure.js';

export const HELLO = 'examples/hello.rlenv.yaml';
export const EPISODES = 512;
export const AT_ONCE = 64;
const ROUNDS = 5;

/** Runs hello in this process; resolves with the milliseconds from before the build to after the last teardown. */
export function runHello(engine: Engine, provider: string, seeds: number, atOnce: number): Promise<number> {
  return timed(async () => {
    const live = await engine.start(HELLO, { provider, seeds: String(seeds), concurrency: atOnce });
    const run = await live.ended;
    if (run.state !== 'done' || run.summary?.errors) throw new Error(`the run is ${run.state}: ${run.error ?? `${run.summary?.errors} errors`}`);
  });
}

/**
 * The provider's own launch script, which mounts the same overlays and starts bubblewrap with the same words, but for its end: where ours waits
 * for a command, this one is the command. Its one argument is the seed.
 */
async function bareScript(root: string): Promise<string> {
  const folder = join(root, '.rlenv', 'snapshots', 'bubblewrap');
  const { run } = (await loadTemplate(HELLO)).episode;
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.sh')) continue;
    const script = await readFile(join(folder, name), 'utf8');
    // Not the one of the health check, which has no snapshot, nor the build's, which writes to a folder.
    const mounts = await readFile(join(folder, name.replace(/sh$/, 'mounts')), 'utf8');
    if (!mounts.includes('../snapshots/') || !script.includes('-t tmpfs')) continue;
    const body = `'RL_SEED=$1\n${run!.replaceAll("'", `'\\''`)}'`;
    const bare = script
      .replace(/^echo up .*$/m, '')
      .replace(/^id=\$1 work=\$2$/m, 'seed=$1')
      .replace(/^shift 2$/m, 'set --')
      .replace(/ -s "\$id" 4>&3$/m, ` -c ${body} sh "$seed" 4> /dev/null`);
    if (bare === script || !bare.includes('"$seed"')) throw new Error('the launch script has changed: the bare loop must follow it');
    const file = join(root, 'bare.sh');
    await writeFile(file, bare);
    return file;
  }
  throw new Error('the provider left no launch script');
}

export async function bubblewrap(root: string): Promise<Figure[]> {
  const engine = await Engine.open({ root });
  try {
    await runHello(engine, 'bubblewrap', AT_ONCE, AT_ONCE);
    const script = await bareScript(root);
    const words = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']), '--mount', '--propagation', 'private', 'sh', script];
    const loop = await sideBySide(
      ROUNDS,
      () => runHello(engine, 'bubblewrap', EPISODES, AT_ONCE),
      () => timed(() => bareLoop(words, EPISODES, AT_ONCE)),
    );
    const single = await sideBySide(
      ROUNDS * 4,
      () => firstOutput(engine),
      () => timed(() => execute(words[0]!, [...words.slice(1), '0'])),
    );
    return [
      { what: `bubblewrap: ${EPISODES} hello episodes, ${AT_ONCE} at once`, ours: `${ms(loop.ours)} (${Math.round((EPISODES * 1000) / loop.ours)}/s)`, floor: `${ms(loop.bare)} (xargs -P ${AT_ONCE}, the same command)`, ratio: loop.ratio.toFixed(2), target: '≤ 1.15', met: loop.ratio <= 1.15 },
      { what: 'bubblewrap: restore to first output, one alone', ours: ms(single.ours), floor: `${ms(single.bare)} (the same command)`, ratio: single.ratio.toFixed(2), target: '', met: undefined },
    ];
  } finally {
    await engine.close();
  }
}

/** From asking for a sandbox to the first byte that a command in it prints. */
async function firstOutput(engine: Engine): Promise<number> {
  const provider = await engine.providers.get('bubblewrap');
  const snapshot = (await engine.snapshots.list())[0]!;
  const labels = { owner: engine.owner, expires: Date.now() + 60_000 };
  const start = performance.now();
  const sandbox = await provider.restore(snapshot, { labels, resources: {}, env: {}, network: 'none', lifetimeMs: 60_000 });
  const child = sandbox.exec(['sh', '-c', 'echo 1'], { timeoutMs: 30_000 });
  const first = await new Promise<number>((resolve) => child.stdout.once('data', () => resolve(performance.now() - start)));
  child.stdout.resume();
  child.stderr.resume();
  await child.exit;
  await sandbox.terminate();
  return first;
}
