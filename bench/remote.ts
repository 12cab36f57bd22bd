/**
 * Runs on simulated vendors whose every answer takes 250 ms longer, beside a bare loop over the vendor's own SDK that does the same: create from the snapshot,
 * run, end. The simulator is a process of its own on this machine, and on few cores it is what both wait for.
 */
import { Sandbox, type ConnectionOpts } from 'e2b';
import { Engine } from '../src/engine/engine.js';
import { loadTemplate } from '../src/template/load.js';
import { Simulated } from '../test/e2b/simulated.js';
import { AT_ONCE, EPISODES, HELLO, runHello } from './bubblewrap.js';
import { peakMemory } from './commandLine.js';
import { ms, sideBySide, timed, type Figure } from './measure.js';

const ROUNDS = 3;
const LATENCY_MS = 250;
const PLENTY = { RL_SANDBOXES_E2B_CONCURRENT: '1000', RL_SANDBOXES_E2B_CREATIONS_PER_SECOND: '1000' };

interface Remote {
  readonly id: string;
  /** With a latency, and what points the provider and the SDK at it. */
  readonly start: () => Promise<{ readonly environment: Readonly<Record<string, string>>; readonly requests: () => Promise<number>; readonly close: () => Promise<void> }>;
  /** One episode by the SDK alone: from a snapshot, as the provider names it. */
  readonly bare: (environment: Readonly<Record<string, string>>, ref: string, script: string, seed: number) => Promise<void>;
}

const REMOTES: readonly Remote[] = [
  {
    id: 'e2b',
    start: async () => {
      const simulated = await Simulated.start('--latency', String(LATENCY_MS));
      const requests = async (): Promise<number> => Object.values((await simulated.state()).requests).reduce((sum, count) => sum + count, 0);
      return { environment: { ...simulated.environment, ...PLENTY }, requests, close: () => simulated.close() };
    },
    bare: async ({ E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl }, ref, script, seed) => {
      const options: ConnectionOpts = { apiKey, apiUrl, sandboxUrl };
      const sandbox = await Sandbox.create(ref.split(' ')[0]!, options);
      await sandbox.commands.run(script, { envs: { RL_SEED: String(seed) } });
      await sandbox.kill();
    },
  },
];

export async function remote(root: string, episodes = EPISODES): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const each of REMOTES) figures.push(...(await measure(each, root, episodes)));
  return figures;
}

async function measure({ id, start, bare }: Remote, root: string, episodes: number): Promise<Figure[]> {
  const { environment, requests, close } = await start();
  Object.assign(process.env, environment);
  const engine = await Engine.open({ root });
  try {
    await runHello(engine, id, 8, 8);
    const { ref } = (await engine.snapshots.list()).find(({ provider }) => provider === id)!;
    const { episode } = await loadTemplate(HELLO);
    const counts = { ours: 0, bare: 0 };
    const counted = async (who: keyof typeof counts, work: () => Promise<unknown>): Promise<number> => {
      const before = await requests();
      const time = await timed(work);
      counts[who] = ((await requests()) - before) / episodes;
      return time;
    };
    const loop = async (): Promise<void> => {
      let next = 0;
      await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        while (next < episodes) await bare(environment, ref, episode.run!, next++);
      }));
    };
    const { ours, bare: floor, ratio } = await sideBySide(ROUNDS, () => counted('ours', () => runHello(engine, id, episodes, AT_ONCE)), () => counted('bare', loop));
    const what = `${id}, simulated, ${LATENCY_MS} ms away`;
    return [
      { what: `${what}: ${episodes} episodes, ${AT_ONCE} at once`, ours: ms(ours), floor: `${ms(floor)} (its SDK in a loop)`, ratio: ratio.toFixed(2), target: '≤ 1.1', met: ratio <= 1.1 },
      { what: `${what}: requests for each episode`, ours: counts.ours.toFixed(2), floor: counts.bare.toFixed(2), ratio: (counts.ours / counts.bare).toFixed(2), target: '', met: undefined },
      { what: `${what}: peak memory of the command line`, ours: `${((await peakMemory(root, episodes, id)) / 1e6).toFixed(1)} MB`, floor: '', ratio: '', target: '', met: undefined },
    ];
  } finally {
    await engine.close();
    await close();
  }
}
