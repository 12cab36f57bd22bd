/** What recording costs: the run of hello episodes with its traces, against the same run whose trace writer does nothing. */
import { mkdir } from 'node:fs/promises';
import { Engine } from '../src/engine/engine.js';
import { TraceWriter } from '../src/trace/writer.js';
import { AT_ONCE, EPISODES, runHello } from './bubblewrap.js';
import { ms, sideBySide, type Figure } from './measure.js';

const ROUNDS = 9;

/** Runs `work` with a trace writer that takes everything and keeps nothing; the folder, which the episode's output needs as well, is made. */
async function unrecorded<T>(work: () => Promise<T>): Promise<T> {
  const { prototype } = TraceWriter;
  const methods = Object.getOwnPropertyDescriptors(prototype);
  function finish(this: { readonly options: { readonly folder: string } }): Promise<unknown> {
    return mkdir(this.options.folder, { recursive: true });
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
    const run = () => runHello(engine, 'bubblewrap', EPISODES, AT_ONCE);
    await run();
    const { ours, bare, ratio } = await sideBySide(ROUNDS, run, () => unrecorded(run));
    return [{ what: `trace: ${EPISODES} hello episodes, ${AT_ONCE} at once, recorded`, ours: ms(ours), floor: `${ms(bare)} (not recorded)`, ratio: ratio.toFixed(3), target: '≤ 1.01', met: ratio <= 1.01 }];
  } finally {
    await engine.close();
  }
}
