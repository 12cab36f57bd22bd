/** What a row of the alignment says. */
import * as l10n from '@vscode/l10n';
import type { AlignedRow, StepDifference } from '../../src/protocol/traceDiff.js';

function differenceWord(difference: StepDifference): string {
  switch (difference) {
    case 'action': return l10n.t('action');
    case 'message': return l10n.t('message');
    case 'observation': return l10n.t('observation');
    case 'reward': return l10n.t('reward');
  }
}

/** In what the two steps differ; empty if they do not. */
export function rowWord({ a, b, differs }: AlignedRow): string {
  if (a === null) return l10n.t('only in b');
  if (b === null) return l10n.t('only in a');
  return differs.map(differenceWord).join(', ');
}

const isOther = ({ a, b, differs }: AlignedRow): boolean => a === null || b === null || differs.includes('action');

/** The sign beside a row, and what it stands for in colour. */
export function rowMark(row: AlignedRow): { readonly icon: string; readonly kind: 'same' | 'other' | 'alike' } {
  if (isOther(row)) return { icon: row.a === null ? 'diff-added' : row.b === null ? 'diff-removed' : 'diff-modified', kind: 'other' };
  return row.differs.length > 0 ? { icon: 'circle-small-filled', kind: 'alike' } : { icon: 'blank', kind: 'same' };
}
