/**
 * What the engine does for the run view of a big run, in this process: `npx tsx bench/runEngine.ts [episodes]` prints one line of JSON. From a log on
 * disk to what the page is sent; wall time, and beside it the processor time of the process, which other programs hardly change.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunReader } from '../src/engine/runReader.js';
import { pairedFigures, seedPairs } from '../src/rollout/paired.js';
import { RewardMatrix } from '../src/rollout/rewardMatrix.js';
import { Layout } from '../src/store/layout.js';
import type { RowsQuery, SortKey } from '../src/store/statistics.js';
import { episodeRecord, finishOrder, runRecord } from '../test/webview/generate.js';
import { median } from './measure.js';

interface Time {
  readonly wall: number;
  readonly cpu: number;
}

export interface RunEngineFigures {
  /** From the log on disk to the snapshot and the first rows, ms. */
  readonly open: Time;
  /** The slowest of all columns, and of several filters: rows of the table in another order, ms. */
  readonly sort: Time & { readonly slowest: SortKey };
  readonly filter: Time & { readonly slowest: string };
  /** Two such runs compared seed by seed, with 9,999 permutations, ms. */
  readonly compare: Time;
}

const ROUNDS = 5;
const SORTS: readonly SortKey[] = ['finish', 'episode', 'seed', 'sample', 'status', 'reward', 'advantage', 'steps', 'time', 'cause'];
const FILTERS = ['status:error', 'reward<0.5', 'reward:none', 'seed:17', 'time>2s status:completed', 'cause:timeout', '"no space"', '-status:completed reward<0.2'];

async function timed(work: () => unknown): Promise<Time> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { wall: performance.now() - start, cpu: (user + system) / 1000 };
}

async function middle(work: () => unknown): Promise<Time> {
  const times: Time[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await timed(work));
  return { wall: median(times.map(({ wall }) => wall)), cpu: median(times.map(({ cpu }) => cpu)) };
}

async function slowest<K extends string>(names: readonly K[], work: (name: K) => unknown): Promise<Time & { slowest: K }> {
  let worst: (Time & { slowest: K }) | undefined;
  for (const name of names) {
    const time = await middle(() => work(name));
    if (!worst || time.cpu > worst.cpu) worst = { ...time, slowest: name };
  }
  return worst!;
}

export async function measureRunEngine(episodes: number, samples = 4): Promise<RunEngineFigures> {
  const root = await mkdtemp(join(tmpdir(), 'rl-bench-'));
  try {
    const layout = new Layout(root);
    const run = runRecord(episodes, { id: 'run-14', samples, seeds: { first: 0, last: episodes / samples - 1 } });
    await mkdir(layout.run(run.id), { recursive: true });
    await writeFile(layout.episodesFile(run.id), finishOrder(episodes).map((episode) => `${JSON.stringify(episodeRecord(episode, { samples }))}\n`).join(''));
    const query: RowsQuery = { filter: '', sort: 'finish', descending: false, start: 0, count: 100 };
    const openReader = async (): Promise<RunReader> => {
      const reader = new RunReader(layout, run);
      await reader.refresh();
      JSON.stringify([reader.snapshot(run, 0), reader.rows(query)]);
      return reader;
    };
    const open = await middle(openReader);
    const reader = await openReader();
    const other = new RewardMatrix(samples, episodes);
    for (const record of reader.records) other.add({ ...record, reward: record.reward === null ? null : record.reward + Math.sin(record.episode) });
    const rows = (change: Partial<RowsQuery>) => JSON.stringify(reader.rows({ ...query, ...change }));
    return {
      open,
      sort: await slowest(SORTS, (sort) => rows({ sort, descending: true })),
      filter: await slowest(FILTERS, (filter) => rows({ filter, sort: 'reward' })),
      compare: await middle(() => pairedFigures(seedPairs(reader.matrix, other))),
    };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

if (process.argv[1]?.endsWith('runEngine.ts')) {
  measureRunEngine(Number(process.argv[2] ?? 100_000)).then(
    (figures) => console.log(JSON.stringify(figures)),
    (error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    },
  );
}
