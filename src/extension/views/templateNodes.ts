/** Templates and their snapshots as tree items. */
import * as l10n from '@vscode/l10n';
import { basename } from 'node:path';
import type { RunSummary, TemplateStatus } from '../../runner/api.js';
import type { Problem } from '../../template/template.js';
import { formatAgo, formatMean, oneLine } from '../format.js';
import { Commands, InternalCommands, Items } from '../ids.js';
import type { Node, TemplateRef } from './node.js';

export interface TemplateView {
  readonly ref: TemplateRef;
  /** Absent until the engine has answered, or when it could not. */
  readonly status?: TemplateStatus;
  /** Why there is no status. */
  readonly failure?: string;
  /** How many snapshots are beneath it, where more is known than its status says. */
  readonly snapshots?: number;
  /** Newest finished run of it, for its mean. */
  readonly lastRun?: RunSummary;
  /** Name of the workspace folder, where there are several. */
  readonly folder?: string;
}

const stem = (file: string): string => basename(file).replace(/\.rlenv\.yaml$/, '');

const firstError = (status: TemplateStatus): Problem | undefined => status.problems.find((problem) => problem.severity === 'error') ?? status.problems[0];

export function templateNode(view: TemplateView, now: number): Node {
  const { ref, status, lastRun } = view;
  const label = oneLine(status?.name ?? stem(ref.file), 80);
  const invalid = status?.state === 'invalid';
  const problem = status && invalid ? firstError(status) : undefined;
  const state = describeState(view, now);
  const mean = (interval: number | null) => (lastRun && lastRun.mean !== null ? l10n.t('mean {0}', formatMean(lastRun.mean, interval)) : undefined);
  // Without the interval, for which a sidebar of usual width has no room; it stands beneath, in the run.
  const description = [view.folder, state, invalid ? undefined : mean(null)].filter(Boolean).join('  ·  ');
  return {
    id: `template:${ref.file}`,
    label,
    description,
    spoken: l10n.t('Template {0}, {1}', label, [state, mean(lastRun?.ci95 ?? null)].filter(Boolean).join(', ')),
    tooltip: () => templateTooltip(view, now),
    icon: stateIcon(view),
    item: invalid ? Items.invalidTemplate : Items.template,
    ...((view.snapshots ?? status?.snapshots.length ?? 0) > 0 && { children: 'collapsed' as const }),
    command: problem
      ? { id: InternalCommands.openProblem, title: l10n.t('Go to Problem'), arguments: [{ file: ref.file, line: problem.line, column: problem.column }] }
      : { id: Commands.openTemplate, title: l10n.t('Open Template'), arguments: [ref] },
    template: ref,
  };
}

function describeState({ status, failure }: TemplateView, now: number): string {
  if (!status) return failure ? oneLine(failure) : l10n.t('checking…');
  switch (status.state) {
    case 'invalid': {
      const problem = firstError(status);
      return problem ? l10n.t('line {0}: {1}', problem.line, oneLine(problem.message)) : l10n.t('invalid');
    }
    case 'unbuilt':
      return l10n.t('not built');
    case 'stale':
      return status.changed?.length ? l10n.t('stale: {0} changed', status.changed.map((part) => oneLine(part, 40)).join(', ')) : l10n.t('stale');
    case 'built': {
      const snapshot = status.snapshots.find(({ id }) => id === status.current);
      return snapshot ? l10n.t('built {0}', formatAgo(snapshot.createdAt, now)) : l10n.t('built');
    }
  }
}

function stateIcon({ status, failure }: TemplateView): NonNullable<Node['icon']> {
  if (!status) return failure ? { id: 'warning', color: 'list.warningForeground' } : { id: 'loading~spin' };
  if (status.state === 'invalid') return { id: 'error', color: 'list.errorForeground' };
  if (status.state === 'stale') return { id: 'beaker', color: 'list.warningForeground' };
  return { id: status.state === 'built' ? 'beaker' : 'circle-large-outline' };
}

function templateTooltip(view: TemplateView, now: number): string {
  const { status, lastRun } = view;
  const lines = [view.ref.file, describeState(view, now)];
  for (const problem of status?.problems.slice(0, 10) ?? []) lines.push(l10n.t('line {0}: {1}', problem.line, oneLine(problem.message, 300)));
  if (lastRun) lines.push(l10n.t('last run #{0}: mean {1}, {2} episodes', lastRun.run.number, formatMean(lastRun.mean, lastRun.ci95), lastRun.finished));
  return lines.join('\n');
}
