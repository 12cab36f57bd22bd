/** What the codes of the protocol are called. */
import * as l10n from '@vscode/l10n';
import type { PairKind, RunDifference, SeedPair, SignFlipTest } from '../../src/protocol/compareView.js';
import * as format from '../format.js';
import { oneLine } from '../text.js';

export function kindWord(kind: PairKind): { readonly text: string; readonly icon: string; readonly tone: string } {
  switch (kind) {
    case 'better': return { text: l10n.t('better'), icon: 'arrow-up', tone: 'good' };
    case 'same': return { text: l10n.t('the same'), icon: 'dash', tone: 'muted' };
    case 'worse': return { text: l10n.t('worse'), icon: 'arrow-down', tone: 'error' };
    case 'unpaired': return { text: l10n.t('not compared'), icon: 'circle-slash', tone: 'warning' };
  }
}

/** In what the two runs were not asked the same, in a sentence. */
export function differenceSentence({ what, a, b }: RunDifference): string {
  const [one, other] = [oneLine(a, 80) || format.NONE, oneLine(b, 80) || format.NONE];
  switch (what) {
    case 'template': return l10n.t('The templates differ: {0} and {1}.', one, other);
    case 'digest': return l10n.t('The snapshots were built from different content: {0} and {1}.', one, other);
    case 'snapshot': return l10n.t('The snapshots differ: {0} and {1}.', one, other);
    case 'episode': return l10n.t('What an episode is asked to do changed between the runs: {0} and {1}.', one, other);
    case 'reward': return l10n.t('The verifier changed between the runs: {0} and {1}.', one, other);
    case 'policy': return l10n.t('The policies differ: {0} and {1}.', one, other);
    case 'provider': return l10n.t('The providers differ: {0} and {1}.', one, other);
    case 'samples': return l10n.t('Samples for each seed differ: {0} and {1}.', one, other);
    case 'timeout': return l10n.t('The timeouts differ: {0} and {1}.', format.duration(Number(a)), format.duration(Number(b)));
    case 'unfinished': return l10n.t('Not everything has finished: {0} episodes are missing in a, {1} in b.', format.integer(Number(a)), format.integer(Number(b)));
  }
}

/** A difference that is a matter of what is compared, as two policies are, and none to be warned of. */
export const isExpected = ({ what }: RunDifference): boolean => what === 'policy';

/** Where none of those that were drawn lies as far from 0, less cannot be told from so many. */
export function probability({ p, method, permutations }: SignFlipTest): string {
  if (method === 'monte-carlo' && p * permutations < 1.5) return `≤ ${p}`;
  return p < 0.001 ? p.toExponential(1) : p.toFixed(p < 0.1 ? 4 : 3);
}

export function testDescription({ method, permutations }: SignFlipTest): string {
  return method === 'exact'
    ? l10n.t('How often chance alone would put the mean difference at least as far from 0: the signs of the differences turned round in all {0} ways', format.integer(permutations))
    : l10n.t('How often chance alone would put the mean difference at least as far from 0: the signs of the differences turned round in {0} ways, drawn with seed 0', format.integer(permutations));
}

/** Why a seed has no difference. */
export function unpairedReason({ a, b }: SeedPair): string {
  if (a === null) return l10n.t('only in b');
  if (b === null) return l10n.t('only in a');
  if (a.mean === null && b.mean === null) return l10n.t('no reward in either');
  return a.mean === null ? l10n.t('no reward in a') : l10n.t('no reward in b');
}
