/** Runs made up from a number: the same each time, with some of everything that the view has to show. */
import type { EpisodeRecord, EpisodeStatus, RewardComponent, RunRecord } from '../../src/store/records.js';

export const STARTED = Date.UTC(2026, 10, 29, 16, 2);

/** Mulberry32: 32 bits of state, good enough to look random. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const FAILURES: readonly { status: EpisodeStatus; cause: string; reward: 'none' | 'kept' }[] = [
  { status: 'error', cause: 'OperationTimeout: restore did not finish within 30 s', reward: 'none' },
  { status: 'error', cause: 'SandboxLost: the sandbox went away while the episode ran', reward: 'none' },
  { status: 'truncated', cause: 'timeout: the episode did not end within 60 s', reward: 'kept' },
  { status: 'completed', cause: 'not-numeric: the last line of standard output is "done", which is not a number', reward: 'none' },
];

/** A finished episode. `reward` is in [0, 1). */
export function episodeRecord(episode: number, { samples = 1, allFail = false } = {}): EpisodeRecord {
  const next = random(episode + 1);
  const failure = allFail ? FAILURES[episode % 2] : next() < 0.02 ? FAILURES[Math.floor(next() * FAILURES.length)] : undefined;
  const tests = Math.floor(next() * 9) / 8;
  const style = next();
  const scored = failure?.reward !== 'none';
  const components: RewardComponent[] = scored
    ? [
        { name: 'tests_passed', weight: 0.8, value: tests, detail: `${8 * tests} of 8 tests passed` },
        { name: 'style', weight: 0.2, value: style },
      ]
    : failure.status === 'completed'
      ? [
          { name: 'tests_passed', weight: 0.8, value: tests, detail: `${8 * tests} of 8 tests passed` },
          { name: 'style', weight: 0.2, value: null, problem: { code: 'not-numeric', message: 'the last line of standard output is "done", which is not a number' } },
        ]
      : [];
  const infrastructure = failure?.status === 'error';
  const timings = { restore: 12 + Math.floor(30 * next()), act: 40 + Math.floor(900 * next() ** 3), score: 8 + Math.floor(60 * next()), terminate: 4 + Math.floor(9 * next()) };
  const waited = infrastructure ? 30_000 : 0;
  return {
    episode,
    seed: Math.floor(episode / samples),
    sample: episode % samples,
    status: failure?.status ?? 'completed',
    ...(failure && { cause: failure.cause }),
    ...(failure?.status === 'completed' && { problem: { code: 'not-numeric', message: 'component "style" could not be computed' } }),
    ...(infrastructure && { problem: { code: 'infrastructure', message: failure.cause } }),
    reward: scored ? 0.8 * tests + 0.2 * style : null,
    components,
    ...(!infrastructure && { exitCode: failure?.status === 'truncated' ? 137 : 0 }),
    steps: infrastructure ? 0 : 1 + Math.floor(40 * next()),
    attempts: infrastructure ? 3 : 1,
    startedAt: STARTED + episode * 75,
    timings: { ...timings, total: timings.restore + timings.act + timings.score + timings.terminate + waited },
    output: { stdout: 1200, stderr: failure ? 300 : 0, dropped: 0 },
    artifacts: scored ? 2 : 0,
  };
}

/** The order in which episodes finish: nearly that of their numbers. */
export function finishOrder(count: number): number[] {
  const next = random(count);
  return Array.from({ length: count }, (_, episode) => ({ episode, at: episode + 40 * next() }))
    .sort((left, right) => left.at - right.at)
    .map(({ episode }) => episode);
}

/** Other values for a run; `null` for one that is absent, as it comes through JSON. */
export type RunOverrides = { readonly [K in keyof RunRecord]?: RunRecord[K] | null };

export function runRecord(total: number, overrides: RunOverrides = {}): RunRecord {
  const record = {
    id: 'run-14',
    number: 14,
    file: '/workspace/code-repair.rlenv.yaml',
    template: 'code-repair',
    provider: 'docker',
    seeds: { first: 0, last: total - 1 },
    samples: 1,
    concurrency: 64,
    timeoutMs: 60_000,
    policy: 'script',
    state: 'done',
    owner: 'test',
    createdAt: STARTED,
    startedAt: STARTED,
    finishedAt: STARTED + 41_000,
    templateDigest: 'd'.repeat(64),
    snapshot: { id: '8f31c2a07be1', built: true, buildMs: 12_400 },
    total,
    ...overrides,
  };
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null)) as unknown as RunRecord;
}
