/** Accounts at services as tree items. */
import * as l10n from '@vscode/l10n';
import type { ProviderReport } from '../../runner/api.js';
import type { AccountState } from '../accounts.js';
import { oneLine } from '../format.js';
import { Commands, Items } from '../ids.js';
import type { Node } from './node.js';

export function accountNode(state: AccountState): Node {
  const { service, source, report, lost } = state;
  const { id, title, account } = service;
  const who = source.kind === 'profile' ? source.name : source.kind === 'environment' ? account.key : undefined;
  const standing = who === undefined ? (lost === undefined ? l10n.t('not signed in') : l10n.t('not signed in, the key was not kept')) : report && stateOf(report);
  const description = [who, standing].filter(Boolean).join('  ');
  return {
    id: `account:${id}`,
    label: title,
    description,
    spoken: l10n.t('Account at {0}, {1}', title, [who, standing].filter(Boolean).join(', ')),
    tooltip: () => tooltip(state),
    icon: who === undefined ? (lost === undefined ? { id: 'account' } : { id: 'warning' }) : report === undefined ? { id: 'sync' } : report.ok ? { id: 'pass', color: 'testing.iconPassed' } : { id: 'error', color: 'list.errorForeground' },
    item: source.kind === 'profile' ? Items.account : Items.accountWithoutProfile,
    children: 'collapsed',
    account: id,
    ...(who === undefined && { command: { id: Commands.signIn, title: l10n.t('Sign In'), arguments: [{ account: id }] } }),
  };
}

/** Beneath an account: what its plan allows, what is wrong, and the profiles that there are. */
export function accountChildren({ service, source, report, profiles, lost }: AccountState): Node[] {
  const { id, account } = service;
  const line = (name: string, label: string, icon: string, description?: string): Node => ({ id: `account:${id}:${name}`, label, description, icon: { id: icon }, spoken: description === undefined ? label : `${label}, ${description}` });
  const lines: Node[] = [];
  if (lost !== undefined) lines.push({ ...line('lost', l10n.t('VS Code has not kept the key of {0}', oneLine(lost, 60)), 'warning', l10n.t('sign in again')), tooltip: () => lostText(lost), command: { id: Commands.signIn, title: l10n.t('Sign In'), arguments: [{ account: id }] } });
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

/** What was signed in to is gone with VS Code's memory: where it keeps keys depends on how its window was opened. */
const lostText = (profile: string): string =>
  l10n.t('VS Code has not kept the key of {0}: it has no keyring here, or its server has no key to encrypt with. Sign in again, or set the variable in the environment of VS Code.', oneLine(profile, 60));

function tooltip({ service, source, report, lost }: AccountState): string {
  const from = source.kind === 'profile' ? l10n.t('Signed in as {0}', source.name) : source.kind === 'environment' ? l10n.t('Key from the environment: {0}', service.account.key) : l10n.t('Not signed in');
  const found = report ? [report.summary, ...(report.hint ? [report.hint] : []), ...Object.entries(report.details ?? {}).map(([name, text]) => `${name}: ${text}`)] : [];
  return [from, ...(lost === undefined ? [] : [lostText(lost)]), ...found].map((text) => oneLine(text, 400)).join('\n');
}
