/** What a run says about its template, besides its figures. */
import type { Finding, RunSnapshot } from '../protocol/runView.js';
import type { EpisodeRecord } from '../store/records.js';

/** Rewards are sums of weighted values: so much may be left over of nothing. */
const NOTHING = 1e-9;

export function findings({ run, stats, finished, failures }: Pick<RunSnapshot, 'run' | 'stats' | 'finished' | 'failures'>): Finding[] {
  if (finished === 0) return [];
  const { mean } = stats;
  if (run.policy === 'noop') {
    if (mean === null) return [{ what: 'noop-unscored' }];
    return Math.abs(mean) > NOTHING ? [{ what: 'noop-scores', mean }] : [];
  }
  if (run.policy !== 'replay' && !run.fork) return [];
  const different = failures.find(({ code }) => code === DIFFERENCE);
  return different ? [{ what: run.fork ? 'fork-differs' : 'replay-differs', count: different.count, of: finished }] : [];
}

export function findingText(finding: Finding): string {
  switch (finding.what) {
    case 'noop-unscored': return 'nothing was done, and there is no reward: the verifier cannot tell it from a failure of its own';
    case 'noop-scores': return `nothing was done, and the mean reward is ${finding.mean.toFixed(4)}: the verifier is content without a solution`;
    case 'replay-differs': return `${finding.count} of ${finding.of} replayed episodes came to something else`;
    case 'fork-differs': return `${finding.count} of ${finding.of} forked episodes began from another state than was recorded`;
  }
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
