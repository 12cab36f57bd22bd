import type { EpisodeRecord } from '../../../src/store/records.js';

/** A finished episode with a reward of 1, but for what the test says. */
export function record(episode: number, changes: Partial<EpisodeRecord> = {}): EpisodeRecord {
  return {
    episode,
    seed: episode,
    sample: 0,
    status: 'completed',
    reward: 1,
    components: [],
    steps: 1,
    attempts: 1,
    startedAt: 0,
    timings: { restore: 1, act: 2, score: 3, terminate: 4, total: 10 },
    output: { stdout: 0, stderr: 0, dropped: 0 },
    artifacts: 0,
    ...changes,
  };
}
