/** What recording costs: the run of hello episodes with its traces, against the same run whose trace writer does nothing. */
import { mkdirSync } from 'node:fs';
import { Engine } from '../src/engine/engine.js';
import { TraceWriter } from '../src/trace/writer.js';
import { AT_ONCE, EPISODES, runHello } from './bubblewrap.js';
import { median, ms, type Figure } from './measure.js';

const ROUNDS = 6;

/** Of one run, ms. */
interface Taken {
  readonly wall: number;
  readonly cpu: number;
}

/** Runs `work` with a trace writer that takes everything and keeps nothing; the folder, which the episode's output needs as well, is made. */
async function unrecorded<T>(work: () => Promise<T>): Promise<T> {
  const { prototype } = TraceWriter;
  const methods = Object.getOwnPropertyDescriptors(prototype);
  function finish(this: { readonly options: { readonly folder: string } }): Promise<void> {
    mkdirSync(this.options.folder, { recursive: true });
    return Promise.resolve();
  }
  Object.assign(prototype, { write: () => undefined, begin: () => undefined, finish });
  try {
    return await work();
  } finally {
    Object.defineProperties(prototype, methods);
  }
}

export async function trace(root: string): Promise<Figure[]> {
  const engine = await Engine.open({ root });
  try {
    const run = async () => {
      const cpu = process.cpuUsage();
      const wall = await runHello(engine, 'bubblewrap', EPISODES, AT_ONCE);
      const { user, system } = process.cpuUsage(cpu);
      return { wall, cpu: (user + system) / 1000 };
    };
    await run();
    const rounds: { ours: Taken; bare: Taken }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // Each is first as often as second: a machine grows slower as files and snapshots come to lie on its disk.
      const first = round % 2 ? await run() : undefined;
      const bare = await unrecorded(run);
      rounds.push({ ours: first ?? (await run()), bare });
    }
    const ratio = median(rounds.map(({ ours, bare }) => ours.wall / bare.wall));
    const taken = (of: (round: (typeof rounds)[number]) => Taken) => `${ms(median(rounds.map((round) => of(round).wall)))} (the engine: ${ms(median(rounds.map((round) => of(round).cpu)))} of processor time)`;
    return [{ what: `trace: ${EPISODES} hello episodes, ${AT_ONCE} at once, recorded`, ours: taken(({ ours }) => ours), floor: `${taken(({ bare }) => bare)}, not recorded`, ratio: ratio.toFixed(3), target: '≤ 1.01', met: ratio <= 1.01 }];
  } finally {
    await engine.close();
  }
}
