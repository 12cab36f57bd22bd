/** A run on a simulated vendor with every fault at 5 %: no sandbox is left, and every episode is scored as it would be, or an error that says why. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { EpisodeRecord } from '../src/store/records.js';
import { Simulated } from '../test/e2b/simulated.js';
import { FAULTS } from '../test/simulators/e2b/faults.js';
import { AT_ONCE, HELLO } from './bubblewrap.js';
import { ms, type Figure } from './measure.js';

const PROBABILITY = 0.05;
const SEED = 7;
const EPISODES = 1000;
const PLENTY = { RL_SANDBOXES_E2B_CONCURRENT: '1000', RL_SANDBOXES_E2B_CREATIONS_PER_SECOND: '1000' };

export async function faults(root: string, episodes = EPISODES): Promise<Figure[]> {
  const simulated = await Simulated.start();
  try {
    const sound = new Map((await run(root, 'bubblewrap', episodes, {})).map(({ seed, reward }) => [seed, reward]));
    // A build is not tried again: it is there before anything fails.
    await run(root, 'e2b', 1, { ...simulated.environment, ...PLENTY });
    await simulated.faults(Object.fromEntries(Object.keys(FAULTS).map((fault) => [fault, PROBABILITY])), SEED);
    const started = performance.now();
    const records = await run(root, 'e2b', episodes, { ...simulated.environment, ...PLENTY });
    const took = performance.now() - started;
    const { sandboxes, struck } = await simulated.state();
    const scored = records.filter(({ status, reward, seed }) => status === 'completed' && reward === sound.get(seed)).length;
    const errors = records.filter(({ status, reward, cause }) => status === 'error' && reward === null && /^\w+: ./.test(cause ?? '')).length;
    const again = records.filter(({ attempts }) => attempts > 1).length;
    process.stderr.write(`faults that struck: ${Object.entries(struck).map(([fault, count]) => `${fault} ${count}`).join(', ')}; ${ms(took)}\n`);
    for (const each of new Set(records.filter(({ status }) => status === 'error').map(({ cause }) => cause))) process.stderr.write(`error: ${each}\n`);
    return [
      {
        what: `e2b, simulated, each of ${Object.keys(FAULTS).length} faults at 5 %: ${episodes} episodes`,
        ours: `${scored} scored, ${errors} errors with a cause, ${again} tried again, ${sandboxes.length} sandboxes left`,
        floor: '',
        ratio: '',
        target: 'none left, none else',
        met: sandboxes.length === 0 && scored + errors === episodes,
      },
    ];
  } finally {
    await simulated.close();
  }
}

async function run(root: string, provider: string, episodes: number, env: Readonly<Record<string, string>>): Promise<EpisodeRecord[]> {
  const words = ['dist/cli.mjs', 'run', resolve(HELLO), '--provider', provider, '-n', String(episodes), '-c', String(AT_ONCE), '--json', '--root', root];
  const child = spawn(process.execPath, words, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const { directory } = JSON.parse(said) as { directory?: string };
  if (directory === undefined) throw new Error(`the run on ${provider} did not begin: ${said}`);
  return (await readFile(join(directory, 'episodes.jsonl'), 'utf8')).split('\n').filter(Boolean).map((line) => JSON.parse(line) as EpisodeRecord);
}
