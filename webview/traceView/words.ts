/** What the codes of a trace are called, and the icon and colour class that go with the words. */
import * as l10n from '@vscode/l10n';
import type { StepKind, StepSource, StepSummary, TraceHead } from '../../src/protocol/traceView.js';
import * as format from '../format.js';
import { oneLine } from '../text.js';

export const KINDS: readonly StepKind[] = ['message', 'model', 'tool', 'action', 'reset', 'verifier', 'error'];

export function kindWord(kind: StepKind): { readonly text: string; readonly icon: string } {
  switch (kind) {
    case 'message': return { text: l10n.t('message'), icon: 'comment' };
    case 'model': return { text: l10n.t('model'), icon: 'sparkle' };
    case 'tool': return { text: l10n.t('tool'), icon: 'terminal' };
    case 'action': return { text: l10n.t('action'), icon: 'play' };
    case 'reset': return { text: l10n.t('reset'), icon: 'debug-restart' };
    case 'verifier': return { text: l10n.t('verifier'), icon: 'beaker' };
    case 'error': return { text: l10n.t('error'), icon: 'error' };
  }
}

export function sourceWord(source: StepSource): string {
  switch (source) {
    case 'system': return l10n.t('system');
    case 'user': return l10n.t('user');
    case 'agent': return l10n.t('agent');
    case 'environment': return l10n.t('environment');
    case 'verifier': return l10n.t('verifier');
  }
}

export interface EndWord {
  readonly text: string;
  readonly icon: string;
  readonly tone: 'good' | 'warning' | 'error' | 'muted' | 'active';
}

/** How the episode ended and why. */
export function endWord({ end, live }: TraceHead): EndWord {
  if (live) return { text: l10n.t('running'), icon: 'sync', tone: 'active' };
  const reason = end.reason ? oneLine(end.reason, 300) : undefined;
  const because = (text: string) => (reason === undefined ? text : l10n.t('{0}: {1}', text, reason));
  switch (end.status) {
    case 'completed': return { text: because(l10n.t('completed')), icon: 'pass', tone: 'good' };
    case 'truncated': return { text: because(l10n.t('truncated')), icon: 'watch', tone: 'warning' };
    case 'error': return { text: because(l10n.t('failed')), icon: 'error', tone: 'error' };
    case 'cancelled': return { text: because(l10n.t('cancelled')), icon: 'circle-slash', tone: 'muted' };
    case 'unknown': return { text: because(l10n.t('no end was recorded')), icon: 'question', tone: 'muted' };
  }
}

/** A step as a screen reader says it. */
export function spokenStep(step: StepSummary): string {
  const parts = [l10n.t('Step {0}', oneLine(step.label, 40)), kindWord(step.kind).text, oneLine(step.title, 200)];
  if (step.pending) parts.push(l10n.t('going on'));
  if (step.error !== undefined) parts.push(l10n.t('failed: {0}', oneLine(step.error, 100)));
  if (step.reward !== undefined && (step.reward !== null || step.kind === 'verifier')) parts.push(step.reward === null ? l10n.t('no reward') : l10n.t('reward {0}', format.edge(step.reward)));
  if (step.ms !== undefined) parts.push(format.duration(step.ms));
  return parts.filter(Boolean).join(', ');
}
