/** What stands at the top of a view when nothing can run: one item for each reason, which does what helps when it is clicked. */
import * as l10n from '@vscode/l10n';
import type { DoctorReport, ProviderReport } from '../../runner/api.js';
import { oneLine } from '../format.js';
import { Commands, InternalCommands } from '../ids.js';
import type { Node } from './node.js';

/** Empty while some provider answers. */
export function providerProblems(report: DoctorReport): Node[] {
  if (report.chosen) return [];
  const broken = report.providers.filter(({ ok }) => !ok);
  if (broken.length === 0) return [];
  return [
    {
      id: 'problem:none',
      label: l10n.t('No sandbox provider answers'),
      description: l10n.t('nothing can run yet'),
      spoken: l10n.t('No sandbox provider answers, nothing can run yet'),
      icon: { id: 'warning', color: 'list.warningForeground' },
      command: { id: Commands.doctor, title: l10n.t('Check Setup'), arguments: [] },
    },
    ...broken.map(providerProblem),
  ];
}

function providerProblem(provider: ProviderReport): Node {
  const label = problemLabel(provider);
  const hint = oneLine(provider.hint ?? provider.summary);
  return {
    id: `problem:${provider.id}`,
    label,
    description: hint,
    spoken: `${label}: ${hint}`,
    tooltip: () => [provider.summary, ...(provider.hint ? [provider.hint] : [])].map((line) => oneLine(line, 400)).join('\n'),
    icon: { id: 'tools' },
    command: { id: InternalCommands.fixProvider, title: l10n.t('Fix'), arguments: [provider] },
  };
}

function problemLabel({ title, code }: ProviderReport): string {
  switch (code) {
    case 'not-installed':
      return l10n.t('{0} is not installed', title);
    case 'not-running':
      return l10n.t('{0} is not running', title);
    case 'permission':
      return l10n.t('{0} may not be used by this user', title);
    case 'wrong-context':
      return l10n.t('{0} looks in the wrong place', title);
    case 'unsupported':
      return l10n.t('{0} does not work on this machine', title);
    default:
      return l10n.t('{0} does not answer', title);
  }
}

/** In place of the items of a view, or of one node in it, when the engine gave no answer. */
export function failureNode(message: string, parent?: Node): Node {
  const label = l10n.t('The engine does not answer');
  return {
    id: `problem:engine:${parent?.id ?? ''}`,
    label,
    description: oneLine(message),
    spoken: `${label}: ${oneLine(message)}`,
    tooltip: () => `${oneLine(message, 400)}\n${l10n.t('Click to start it again.')}`,
    icon: { id: 'error', color: 'list.errorForeground' },
    command: { id: Commands.restartEngine, title: l10n.t('Restart Engine'), arguments: [] },
  };
}
