/** What a run says about its template, besides its figures: one sentence each. */
import type { RunSnapshot } from '../protocol/runView.js';
import type { EpisodeRecord } from '../store/records.js';

/** Rewards are sums of weighted values: so much may be left over of nothing. */
const NOTHING = 1e-9;

export function findings({ run, stats, finished, failures }: Pick<RunSnapshot, 'run' | 'stats' | 'finished' | 'failures'>): string[] {
  if (finished === 0) return [];
  const { mean } = stats;
  if (run.policy === 'noop') {
    if (mean === null) return ['nothing was done, and there is no reward: the verifier cannot tell it from a failure of its own'];
    return Math.abs(mean) > NOTHING ? [`nothing was done, and the mean reward is ${mean.toFixed(4)}: the verifier is content without a solution`] : [];
  }
  if (run.policy !== 'replay' && !run.fork) return [];
  const different = failures.find(({ code }) => code === DIFFERENCE);
  return different ? [`${different.count} of ${finished} ${run.fork ? 'forked episodes began from another state than was recorded' : 'replayed episodes came to something else'}`] : [];
}

const DIFFERENCE = 'difference';

/** What came of the episodes of a replay, against those of the run that they were taken from: one line for each. */
export function comparison(replayed: readonly EpisodeRecord[], recorded: readonly EpisodeRecord[]): { readonly episode: number; readonly same: boolean; readonly text: string }[] {
  const old = new Map(recorded.map((record) => [record.episode, record]));
  return [...replayed]
    .sort((a, b) => a.episode - b.episode)
    .map(({ episode, cause, reward, steps }) => {
      const before = old.get(episode);
      const parts = [...(cause === undefined || cause === before?.cause ? [] : [cause]), ...(before && before.reward !== reward ? [`the reward is ${reward}, and was ${before.reward}`] : [])];
      return { episode, same: parts.length === 0, text: parts.join('; ') || `the same in ${steps} ${steps === 1 ? 'step' : 'steps'}` };
    });
}
