/** The run of 512 hello episodes against the same bubblewrap command started bare. */
import { readFile, readdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Engine } from '../src/engine/engine.js';
import type { Sandbox } from '../src/sandbox/provider.js';
import { loadTemplate } from '../src/template/load.js';
import { bareLoop, ms, sideBySide, timed, type Figure } from './measure.js';

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

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * The same sandbox as a person would start it: read off a live one, the words of its bubblewrap and the mounts beneath it; but where ours waits for
 * a command, this one is the command. The script's one argument is the seed.
 */
async function bareScript(engine: Engine, root: string): Promise<string> {
  const { run } = (await loadTemplate(HELLO)).episode;
  const sandbox = await restore(engine);
  try {
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').slice(0, -1);
      if (!words[0]?.endsWith('bwrap') || !words.includes(sandbox.id)) continue;
      const end = words.indexOf('--');
      const bwrap = words.slice(0, end).filter((word, index) => !/^--(info|json-status)-fd$/.test(word) && !/^--(info|json-status)-fd$/.test(words[index - 1] ?? ''));
      const mounts = parseMounts(await readFile(`/proc/${pid}/mountinfo`, 'utf8'), await readlink(`/proc/${pid}/cwd`));
      const body = `RL_SEED=$1\n${run!}`;
      const file = join(root, 'bare.sh');
      await writeFile(file, [...mounts, `exec ${[...bwrap, '--', ...words.slice(end + 1, words.indexOf('-s')), '-c', body, 'sh'].map(quote).join(' ')} "$1" < /dev/null`].join(' &&\n') + '\n');
      return file;
    }
    throw new Error('the live sandbox has no bubblewrap process');
  } finally {
    await sandbox.terminate();
  }
}

/** Lines of shell that make the private mounts of a sandbox again. */
function parseMounts(mountinfo: string, folder: string): string[] {
  const lines = mountinfo.trim().split('\n').map((line) => line.split(' ')).filter((fields) => fields[4]!.startsWith(`${folder}/`));
  return [
    `cd ${quote(folder)}`,
    ...lines.flatMap((fields) => {
      const [type, , options] = fields.slice(fields.indexOf('-') + 1);
      const target = quote(fields[4]!);
      if (type === 'tmpfs') return [`mount -t tmpfs -o ${options!.split(',').filter((each) => /^(size|mode|nr_inodes)=/.test(each)).join(',')} tmpfs ${target}`, 'mkdir -p fs/shm'];
      const kept = options!.split(',').filter((each) => /^(lowerdir|upperdir|workdir)=|^userxattr$/.test(each));
      const folders = kept.filter((each) => /^(upper|work)dir=/.test(each)).map((each) => quote(each.slice(each.indexOf('=') + 1)));
      return [`mkdir -p ${folders.join(' ')}`, `mount -t overlay -o ${quote(kept.join(','))} overlay ${target}`];
    }),
  ];
}

/** Words of the command that a person would start, to which a seed is added. */
export async function bareWords(engine: Engine, root: string): Promise<string[]> {
  const script = await bareScript(engine, root);
  return ['unshare', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']), '--mount', '--propagation', 'private', 'sh', script];
}

async function restore(engine: Engine): Promise<Sandbox> {
  const provider = await engine.providers.get('bubblewrap');
  const snapshot = (await engine.snapshots.list())[0]!;
  const labels = { owner: engine.owner, expires: Date.now() + 60_000 };
  return provider.restore(snapshot, { labels, resources: {}, env: {}, network: 'none', lifetimeMs: 60_000 });
}

export async function bubblewrap(root: string): Promise<Figure[]> {
  const engine = await Engine.open({ root });
  try {
    await runHello(engine, 'bubblewrap', AT_ONCE, AT_ONCE);
    const words = await bareWords(engine, root);
    const loop = await sideBySide(
      ROUNDS,
      () => runHello(engine, 'bubblewrap', EPISODES, AT_ONCE),
      () => timed(() => bareLoop(words, EPISODES, AT_ONCE)),
    );
    return [
      { what: `bubblewrap: ${EPISODES} hello episodes, ${AT_ONCE} at once`, ours: `${ms(loop.ours)} (${Math.round((EPISODES * 1000) / loop.ours)}/s)`, floor: `${ms(loop.bare)} (xargs -P ${AT_ONCE}, the same command)`, ratio: loop.ratio.toFixed(2), target: '≤ 1.15', met: loop.ratio <= 1.15 },
    ];
  } finally {
    await engine.close();
  }
}
