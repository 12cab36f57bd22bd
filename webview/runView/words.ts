/** What the protocol's codes are called, and the icon and colour class that go with the words. */
import * as l10n from '@vscode/l10n';
import type { EpisodeStatus, Finding, RewardProblem, RunRecord, RunState, RunWaits } from '../../src/protocol/runView.js';
import * as format from '../format.js';
import { oneLine } from '../text.js';

export interface Word {
  readonly text: string;
  readonly icon: string;
  readonly tone: 'plain' | 'good' | 'warning' | 'error' | 'muted' | 'active';
}

export const STATUSES: readonly EpisodeStatus[] = ['completed', 'truncated', 'error', 'cancelled'];

export function statusWord(status: EpisodeStatus): Word {
  switch (status) {
    case 'completed': return { text: l10n.t('completed'), icon: 'check', tone: 'plain' };
    case 'truncated': return { text: l10n.t('truncated'), icon: 'watch', tone: 'warning' };
    case 'error': return { text: l10n.t('error'), icon: 'error', tone: 'error' };
    case 'cancelled': return { text: l10n.t('cancelled'), icon: 'circle-slash', tone: 'muted' };
  }
}

export function stateWord(state: RunState): Word {
  switch (state) {
    case 'building': return { text: l10n.t('building'), icon: 'tools', tone: 'active' };
    case 'running': return { text: l10n.t('running'), icon: 'sync', tone: 'active' };
    case 'done': return { text: l10n.t('finished'), icon: 'pass', tone: 'good' };
    case 'failed': return { text: l10n.t('failed'), icon: 'error', tone: 'error' };
    case 'cancelled': return { text: l10n.t('cancelled'), icon: 'circle-slash', tone: 'muted' };
    case 'interrupted': return { text: l10n.t('interrupted'), icon: 'debug-disconnect', tone: 'warning' };
  }
}

/** What sandboxes of a run wait for at a service. */
export function waitsSentence({ title, creations, places, perSecond, refused }: RunWaits): string {
  const figures = [oneLine(title, 60), format.integer(creations), format.integer(places), String(Number(perSecond.toPrecision(2)))] as const;
  return refused
    ? l10n.t('{0} has refused more sandboxes than it has room for: {1} wait to be created. For now there are {2} at once and {3} new ones a second.', ...figures)
    : l10n.t('{1} sandboxes wait to be created: {0} allows this account {2} at once and {3} new ones a second.', ...figures);
}

/** Why a run stands still that has cost what it may, and what came of its other episodes. */
export const capSentence = ({ maxCost, stopped }: RunRecord): string =>
  l10n.t(
    'The run has come to the {0} that it may cost. Episodes under way that were ended: {1}; not started: {2}. None of these has a record; Resume runs them, to a higher cap.',
    format.dollars(maxCost ?? 0),
    format.integer(stopped?.underWay ?? 0),
    format.integer(stopped?.notStarted ?? 0),
  );

/** What the run says about its template, in a sentence. */
export function findingSentence(finding: Finding): string {
  switch (finding.what) {
    case 'noop-unscored': return l10n.t('Nothing was done, and there is no reward: the verifier cannot tell it from a failure of its own.');
    case 'noop-scores': return l10n.t('Nothing was done, and the mean reward is {0}: the verifier is content without a solution.', format.reward(finding.mean));
    case 'replay-differs': return l10n.t('{0} of {1} replayed episodes came to something else.', format.integer(finding.count), format.integer(finding.of));
    case 'fork-differs': return l10n.t('{0} of {1} forked episodes began from another state than was recorded.', format.integer(finding.count), format.integer(finding.of));
  }
}

/** Why a value of this kind is not a reward: the rule behind the message. */
export function problemRule(code: RewardProblem['code']): string {
  switch (code) {
    case 'missing': return l10n.t('Nothing was where the reward is read from. A reward that is not there is unknown; it is not 0.');
    case 'empty': return l10n.t('What the reward is read from was there, and blank.');
    case 'not-numeric': return l10n.t('What was found is not one number.');
    case 'not-finite': return l10n.t('NaN and infinity are not rewards: one of them would spoil every mean.');
    case 'out-of-range': return l10n.t('The value is outside of the reward range that the template states. It is not clipped, since it says that the verifier is wrong.');
    case 'too-large': return l10n.t('What the reward is read from is longer than a reward can be, so it was not read.');
    case 'conflicting': return l10n.t('Two places gave different rewards, and nothing says which one holds.');
    case 'verifier-failed': return l10n.t('The verifier itself failed, so that what it left is not trusted.');
    case 'timed-out': return l10n.t('The verifier did not end in time and was killed.');
    case 'infrastructure': return l10n.t('The machinery failed, not the agent. Such an episode has no reward and can be run again.');
  }
}
