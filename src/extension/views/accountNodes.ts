/** Accounts at services as tree items. */
import * as l10n from '@vscode/l10n';
import type { ProviderReport } from '../../runner/api.js';
import type { AccountState } from '../accounts.js';
import { oneLine } from '../format.js';
import { Commands, Items } from '../ids.js';
import type { Node } from './node.js';

export function accountNode({ service, source, report, profiles }: AccountState): Node {
  const { id, title, account } = service;
  const who = source.kind === 'profile' ? source.name : source.kind === 'environment' ? account.key : undefined;
  const state = who === undefined ? l10n.t('not signed in') : report && stateOf(report);
  const description = [who, state].filter(Boolean).join('  ');
  return {
    id: `account:${id}`,
    label: title,
    description,
    spoken: l10n.t('Account at {0}, {1}', title, [who, state].filter(Boolean).join(', ')),
    tooltip: () => tooltip({ service, source, report, profiles }),
    icon: who === undefined ? { id: 'account' } : report === undefined ? { id: 'sync' } : report.ok ? { id: 'pass', color: 'testing.iconPassed' } : { id: 'error', color: 'list.errorForeground' },
    item: source.kind === 'profile' ? Items.account : Items.accountWithoutProfile,
    children: 'collapsed',
    account: id,
    ...(who === undefined && { command: { id: Commands.signIn, title: l10n.t('Sign In'), arguments: [{ account: id }] } }),
  };
}

/** Beneath an account: what its plan allows, what is wrong, and the profiles that there are. */
export function accountChildren({ service, source, report, profiles }: AccountState): Node[] {
  const { id, account } = service;
  const line = (name: string, label: string, icon: string, description?: string): Node => ({ id: `account:${id}:${name}`, label, description, icon: { id: icon }, spoken: description === undefined ? label : `${label}, ${description}` });
  const lines: Node[] = [];
  if (source.kind === 'environment') lines.push(line('source', l10n.t('Key from the environment'), 'key', account.key));
  if (report && !report.ok) lines.push({ ...line('problem', oneLine(report.summary), 'warning', report.hint && oneLine(report.hint)), tooltip: () => [report.summary, report.hint ?? ''].map((text) => oneLine(text, 400)).join('\n') });
  if (report?.account) {
    const { service: at, live, concurrent, creationsPerSecond } = report.account;
    lines.push(line('service', l10n.t('Service'), 'globe', oneLine(at)));
    lines.push(line('live', l10n.t('Sandboxes'), 'vm', l10n.t('{0} of {1} live', live, concurrent)));
    lines.push(line('rate', l10n.t('Creations'), 'dashboard', l10n.t('{0} a second at most', creationsPerSecond)));
  }
  for (const profile of profiles) {
    const active = source.kind === 'profile' && source.name === profile;
    const label = oneLine(profile, 60);
    const spoken = active ? l10n.t('Profile {0}, signed in', label) : l10n.t('Profile {0}', label);
    lines.push({
      ...line(`profile:${profile}`, label, active ? 'check' : 'circle-outline', active ? l10n.t('signed in') : undefined),
      spoken,
      ...(!active && { command: { id: Commands.switchProfile, title: l10n.t('Switch to This Profile'), arguments: [{ account: id, profile }] } }),
    });
  }
  if (profiles.length === 0 && source.kind === 'none') lines.push({ ...line('sign-in', l10n.t('Sign in…'), 'sign-in'), command: { id: Commands.signIn, title: l10n.t('Sign In'), arguments: [{ account: id }] } });
  return lines;
}

/** The check's result in a few words. */
export function stateOf(report: ProviderReport): string {
  switch (report.code) {
    case 'wrong-key':
      return l10n.t('key refused');
    case 'no-network':
      return l10n.t('cannot be reached');
    case 'quota':
      return l10n.t('quota used up');
    case 'signed-out':
      return l10n.t('not signed in');
    default:
      return report.account ? l10n.t('{0} of {1} live', report.account.live, report.account.concurrent) : report.ok ? l10n.t('signed in') : l10n.t('does not answer');
  }
}

function tooltip({ service, source, report }: AccountState): string {
  const from = source.kind === 'profile' ? l10n.t('Signed in as {0}', source.name) : source.kind === 'environment' ? l10n.t('Key from the environment: {0}', service.account.key) : l10n.t('Not signed in');
  const found = report ? [report.summary, ...(report.hint ? [report.hint] : []), ...Object.entries(report.details ?? {}).map(([name, text]) => `${name}: ${text}`)] : [];
  return [from, ...found].map((text) => oneLine(text, 400)).join('\n');
}
