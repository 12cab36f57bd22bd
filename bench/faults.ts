/** A run on a simulated vendor with every fault at 5 %: no sandbox is left, and every episode is scored as it would be, or an error that says why. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { EpisodeRecord } from '../src/store/records.js';
import { Simulated as Beam } from '../test/beam/simulated.js';
import { Simulated as E2b } from '../test/e2b/simulated.js';
import { FAULTS as BEAM } from '../test/simulators/beam/faults.js';
import { FAULTS as E2B } from '../test/simulators/e2b/faults.js';
import { AT_ONCE, HELLO } from './bubblewrap.js';
import { ms, type Figure } from './measure.js';
import { plenty } from './remote.js';

const PROBABILITY = 0.05;
const SEED = 7;
const EPISODES = 1000;
interface Faulty {
  readonly environment: Readonly<Record<string, string>>;
  /** From now on each of them strikes with this probability. Gives how many there are. */
  readonly strike: (probability: number, seed: number) => Promise<number>;
  readonly state: () => Promise<{ readonly sandboxes: readonly unknown[]; readonly struck: Readonly<Record<string, number>> }>;
  readonly close: () => Promise<void>;
}

function faulty<Fault extends string>(simulated: Pick<Faulty, 'environment' | 'state' | 'close'> & { faults(probabilities: Partial<Record<Fault, number>>, seed: number): Promise<unknown> }, faults: Readonly<Record<Fault, string>>): Faulty {
  const names = Object.keys(faults) as Fault[];
  const strike = async (probability: number, seed: number): Promise<number> => {
    await simulated.faults(Object.fromEntries(names.map((name) => [name, probability])) as Partial<Record<Fault, number>>, seed);
    return names.length;
  };
  return { environment: simulated.environment, strike, state: () => simulated.state(), close: () => simulated.close() };
}

const VENDORS: Readonly<Record<string, () => Promise<Faulty>>> = {
  e2b: async () => faulty(await E2b.start(), E2B),
  beam: async () => faulty(await Beam.start(), BEAM),
};

export async function faults(root: string, episodes = EPISODES): Promise<Figure[]> {
  const sound = new Map((await run(root, 'bubblewrap', episodes, {})).map(({ seed, reward }) => [seed, reward]));
  const figures: Figure[] = [];
  for (const id of Object.keys(VENDORS)) figures.push(await suffer(id, root, episodes, sound));
  return figures;
}

async function suffer(id: string, root: string, episodes: number, sound: ReadonlyMap<number, number | null>): Promise<Figure> {
  const { environment, strike, state, close } = await VENDORS[id]!();
  try {
    const env = { ...environment, ...plenty(id) };
    // A build is not tried again: it is there before anything fails.
    await run(root, id, 1, env);
    const kinds = await strike(PROBABILITY, SEED);
    const started = performance.now();
    const records = await run(root, id, episodes, env);
    const took = performance.now() - started;
    const { sandboxes, struck } = await state();
    const scored = records.filter(({ status, reward, seed }) => status === 'completed' && reward === sound.get(seed)).length;
    const errors = records.filter(({ status, reward, cause }) => status === 'error' && reward === null && /^\w+: ./.test(cause ?? '')).length;
    const again = records.filter(({ attempts }) => attempts > 1).length;
    process.stderr.write(`faults that struck ${id}: ${Object.entries(struck).map(([fault, count]) => `${fault} ${count}`).join(', ')}; ${ms(took)}\n`);
    for (const each of new Set(records.filter(({ status }) => status === 'error').map(({ cause }) => cause))) process.stderr.write(`error: ${each}\n`);
    return {
      what: `${id}, simulated, each of ${kinds} faults at 5 %: ${episodes} episodes`,
      ours: `${scored} scored, ${errors} errors with a cause, ${again} tried again, ${sandboxes.length} sandboxes left`,
      floor: '',
      ratio: '',
      target: 'none left, none else',
      met: sandboxes.length === 0 && scored + errors === episodes,
    };
  } finally {
    await close();
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
