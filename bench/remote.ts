/**
 * Runs on simulated vendors whose every answer takes 250 ms longer, beside a bare loop over the vendor's own SDK that does the same: create from the snapshot,
 * run, end. The simulator is a process of its own on this machine, and on few cores it is what both wait for.
 */
import { Image, Sandbox as BeamSandbox } from '@beamcloud/beam-js';
import { Sandbox as E2bSandbox } from 'e2b';
import { Engine } from '../src/engine/engine.js';
import { loadTemplate } from '../src/template/load.js';
import { point, silence } from '../test/beam/sdk.js';
import { Simulated as Beam } from '../test/beam/simulated.js';
import { Simulated as E2b } from '../test/e2b/simulated.js';
import { AT_ONCE, EPISODES, HELLO, runHello } from './bubblewrap.js';
import { providerBundles } from './bundles.js';
import { peakMemory } from './commandLine.js';
import { ms, sideBySide, timed, type Figure } from './measure.js';

const ROUNDS = 3;
const LATENCY_MS = 250;
/** Limits are those of an account that allows any number. */
export const plenty = (id: string): Record<string, string> => ({ [`RL_SANDBOXES_${id.toUpperCase()}_CONCURRENT`]: '1000', [`RL_SANDBOXES_${id.toUpperCase()}_CREATIONS_PER_SECOND`]: '1000' });

interface Started {
  /** What points the provider at it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly state: () => Promise<{ readonly requests: Readonly<Record<string, number>> }>;
  /** Episodes by the SDK alone: from a snapshot, as the service names it. */
  readonly bare: (snapshot: string, script: string) => Bare;
  readonly close: () => Promise<void>;
}

interface Bare {
  readonly episode: (seed: number) => Promise<void>;
  readonly over?: () => void;
}

const FLAGS = ['--latency', String(LATENCY_MS)];

const REMOTES: Readonly<Record<string, () => Promise<Started>>> = {
  e2b: async () => {
    const simulated = await E2b.start(...FLAGS);
    const { E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl } = simulated.environment;
    const bare = (snapshot: string, script: string): Bare => ({
      episode: async (seed) => {
        const sandbox = await E2bSandbox.create(snapshot, { apiKey, apiUrl, sandboxUrl });
        await sandbox.commands.run(script, { envs: { RL_SEED: String(seed) } });
        await sandbox.kill();
      },
    });
    return { environment: simulated.environment, state: () => simulated.state(), bare, close: () => simulated.close() };
  },
  beam: async () => {
    const simulated = await Beam.start(...FLAGS);
    // It knows one account for each process, and prints what it does.
    point(simulated.environment);
    const bare = (snapshot: string, script: string): Bare => {
      const speak = silence();
      const of = new BeamSandbox({ name: 'bare', image: Image.fromId(snapshot), keepWarmSeconds: 300 });
      return {
        episode: async (seed) => {
          const sandbox = await of.create();
          const process = await sandbox.exec(['sh', '-c', script], { env: { RL_SEED: String(seed) } });
          await process.wait();
          await process.stdout.read();
          await sandbox.terminate();
        },
        over: speak,
      };
    };
    return { environment: simulated.environment, state: () => simulated.state(), bare, close: () => simulated.close() };
  },
};

export async function remote(root: string, episodes = EPISODES): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const id of Object.keys(REMOTES)) figures.push(...(await measure(id, root, episodes)));
  return [...figures, ...(await providerBundles())];
}

async function measure(id: string, root: string, episodes: number): Promise<Figure[]> {
  const { environment, state, bare, close } = await REMOTES[id]!();
  Object.assign(process.env, environment, plenty(id));
  const engine = await Engine.open({ root });
  try {
    await runHello(engine, id, 8, 8);
    const { ref } = (await engine.snapshots.list()).find(({ provider }) => provider === id)!;
    const script = (await loadTemplate(HELLO)).episode.run!;
    const asked = async (): Promise<number> => Object.values((await state()).requests).reduce((sum, count) => sum + count, 0);
    const counts = { ours: 0, bare: 0 };
    const counted = async (who: keyof typeof counts, work: () => Promise<unknown>): Promise<number> => {
      const before = await asked();
      const time = await timed(work);
      counts[who] = ((await asked()) - before) / episodes;
      return time;
    };
    const loop = async (): Promise<void> => {
      const { episode, over } = bare(ref.split(' ')[0]!, script);
      let next = 0;
      await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        while (next < episodes) await episode(next++);
      })).finally(over);
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
