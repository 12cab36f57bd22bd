/** Sign In to Provider, Sign Out, Switch Profile, Check Account. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { ProviderReport } from '../../runner/api.js';
import type { Service } from '../accounts.js';
import { Failure } from '../failure.js';
import { oneLine } from '../format.js';
import { Commands } from '../ids.js';
import { withCancellableProgress } from '../progress.js';
import { tellQuietly } from '../quiet.js';
import { secretPlace } from '../secretPlace.js';
import type { Services } from '../services.js';
import { askAll, askText, type Step } from './multiStep.js';
import { nodeOf } from './targets.js';

interface Target {
  readonly service: Service;
  readonly profile?: string;
}

interface Answers {
  readonly profile: string;
  readonly key: string;
  readonly address: string;
}

export function registerAccountCommands(services: Services): void {
  const { commander, accounts } = services;
  const titleOf = (target: Target | undefined) => target?.service.title ?? l10n.t('the provider');

  commander.register(Commands.signIn, {
    target: (argument) => serviceTarget(services, argument),
    failed: (why, target) => l10n.t('Failed to sign in to {0}: {1}', titleOf(target), why),
    run: ({ service }) => signIn(services, service),
  });
  commander.register(Commands.signOut, {
    target: async (argument) => profileTarget(services, argument, l10n.t('Sign out which profile?')),
    failed: (why, target) => l10n.t('Failed to sign out of {0}: {1}', titleOf(target), why),
    run: async ({ service, profile }) => {
      const signOut = l10n.t('Sign Out');
      const detail = l10n.t('Its key is removed from VS Code. Runs that go on keep it until they end.');
      if ((await vscode.window.showWarningMessage(l10n.t('Sign {0} out of {1}?', profile!, service.title), { modal: true, detail }, signOut)) !== signOut) return;
      await accounts.signOut(service, profile!);
      tellQuietly(l10n.t('{0} is signed out of {1}', profile!, service.title));
    },
  });
  commander.register(Commands.switchProfile, {
    target: async (argument) => profileTarget(services, argument, l10n.t('Which profile is to count from now on?')),
    failed: (why, target) => l10n.t('Failed to switch the profile of {0}: {1}', titleOf(target), why),
    run: async ({ service, profile }) => {
      await accounts.use(service, profile);
      tellQuietly(l10n.t('{0} counts at {1} now', profile!, service.title));
    },
  });
  commander.register(Commands.checkAccount, {
    target: (argument) => serviceTarget(services, argument),
    failed: (why, target) => l10n.t('Failed to check the account at {0}: {1}', titleOf(target), why),
    run: async ({ service }) => {
      const outcome = await withCancellableProgress(l10n.t('Checking the account at {0}', service.title), (signal) => accounts.check(service, signal));
      if (outcome.cancelled) return;
      if (!outcome.value.ok) throw failureOf(outcome.value);
      tellQuietly(oneLine(outcome.value.summary));
    },
  });
}

async function signIn({ accounts }: Services, service: Service): Promise<void> {
  const { profiles, source } = await accounts.state(service);
  const initial: Answers = { profile: source.kind === 'profile' ? source.name : (profiles[0] ?? 'default'), key: '', address: '' };
  for (let answers: Answers | undefined = initial; (answers = await askAll(l10n.t('Sign In to {0}', service.title), answers, stepsOf(service))); ) {
    const variables = variablesOf(service, answers);
    const outcome = await withCancellableProgress(l10n.t('Signing in to {0}', service.title), (signal) => accounts.try(service, variables, signal));
    if (outcome.cancelled) return;
    const report = outcome.value;
    const next = report.ok ? 'keep' : await askAfter(service, report);
    if (next === 'keep') {
      await accounts.signIn(service, answers.profile, variables, report);
      tellQuietly(l10n.t('Signed in to {0} as {1}', service.title, answers.profile));
      return;
    }
    if (next === undefined) return;
  }
}

/** A key that the service refuses is not kept; one that could not be tried may be. */
async function askAfter({ title, account }: Service, report: ProviderReport): Promise<'again' | 'keep' | undefined> {
  const again = l10n.t('Try Again');
  const page = l10n.t('Open Page for Keys');
  const keep = l10n.t('Keep It All the Same');
  const refused = report.code === 'wrong-key';
  const chosen = await vscode.window.showErrorMessage(messageOf(title, report), { modal: true, detail: [report.summary, report.hint ?? ''].map((text) => oneLine(text, 400)).join('\n') }, again, refused ? page : keep);
  if (chosen === page) await vscode.env.openExternal(vscode.Uri.parse(account.keysAt));
  return chosen === keep ? 'keep' : chosen === undefined ? undefined : 'again';
}

function messageOf(title: string, { code }: ProviderReport): string {
  switch (code) {
    case 'wrong-key':
      return l10n.t('{0} refuses the key', title);
    case 'no-network':
      return l10n.t('{0} cannot be reached', title);
    case 'quota':
      return l10n.t('The quota of this account at {0} is used up', title);
    default:
      return l10n.t('{0} gave no good answer', title);
  }
}

const failureOf = ({ summary, hint }: ProviderReport): Failure => new Failure(oneLine(hint === undefined ? summary : `${summary}. ${hint}`, 400), { title: l10n.t('Sign In'), command: Commands.signIn });

/** A URL is that of everything, a name a domain; nothing is the service itself. */
function variablesOf({ account }: Service, { key, address }: Answers): Record<string, string> {
  const variables: Record<string, string> = { [account.key]: key };
  if (/^https?:/.test(address)) for (const name of account.urls) variables[name] = address.replace(/\/+$/, '');
  else if (address && account.domain !== undefined) variables[account.domain] = address;
  return variables;
}

const stepsOf = (service: Service): readonly Step<Answers>[] => [
  async (answers, place) => {
    const answer = await askText({ ...place, prompt: l10n.t('A name for this account, for you. One that is there is replaced.'), value: answers.profile, check: checkProfile });
    return answer.kind === 'value' ? { kind: 'value', value: { ...answers, profile: answer.value } } : answer;
  },
  async (answers, place) => {
    const { web, remote } = { web: vscode.env.uiKind === vscode.UIKind.Web, remote: vscode.env.remoteName };
    const prompt = `${l10n.t('The {0} of {1}.', service.account.keyName, service.title)} ${secretPlace({ web, remote, platform: process.platform })}`;
    const answer = await askText({ ...place, prompt, value: answers.key, password: true, page: service.account.keysAt, check: checkKey });
    return answer.kind === 'value' ? { kind: 'value', value: { ...answers, key: answer.value } } : answer;
  },
  async (answers, place) => {
    const prompt = service.account.domain === undefined ? l10n.t('URL of an installation of your own. Nothing for {0}.', service.account.service) : l10n.t('Domain or URL of another installation. Nothing for {0}.', service.account.service);
    const answer = await askText({ ...place, prompt, placeholder: service.account.service, value: answers.address, check: (text) => checkAddress(text, service.account.domain !== undefined) });
    return answer.kind === 'value' ? { kind: 'value', value: { ...answers, address: answer.value } } : answer;
  },
];

const checkProfile = (text: string): string | undefined =>
  /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,39}$/u.test(text.trim()) ? undefined : l10n.t('Expected 1 to 40 letters, digits, spaces and . _ @ -, starting with a letter or a digit.');

function checkKey(text: string): string | undefined {
  const key = text.trim();
  if (key === '') return l10n.t('Paste the key.');
  return /^[!-~]{1,4096}$/.test(key) ? undefined : l10n.t('A key has no spaces, line breaks or letters with accents: copy it again.');
}

function checkAddress(text: string, domains: boolean): string | undefined {
  const address = text.trim();
  if (address === '' || (domains && /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(address))) return undefined;
  const url = /^https?:\/\//.test(address) && URL.canParse(address) ? new URL(address) : undefined;
  if (url && !url.username && !url.password && !url.search && !url.hash) return undefined;
  return domains ? l10n.t('Expected a domain such as example.com, or a URL such as https://api.example.com.') : l10n.t('Expected a URL such as https://api.example.com.');
}

/** Of an item, or of what an item's command passes. */
function named({ accounts }: Services, argument: unknown): Target | undefined {
  const { account, profile } = (nodeOf(argument) ?? argument ?? {}) as { account?: unknown; profile?: unknown };
  const service = accounts.services.find(({ id }) => id === account);
  return service && { service, ...(typeof profile === 'string' && { profile }) };
}

async function serviceTarget(services: Services, argument: unknown): Promise<Target | undefined> {
  const target = named(services, argument);
  if (target) return target;
  const all = services.accounts.services;
  if (all.length === 1) return { service: all[0]! };
  const items = all.map((service) => ({ label: service.title, description: service.account.service, service }));
  return vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which provider?') });
}

/** Rejects with `Failure` where there is no profile. */
async function profileTarget(services: Services, argument: unknown, question: string): Promise<Target | undefined> {
  const { accounts } = services;
  const target = named(services, argument);
  if (target?.profile !== undefined) return target;
  const states = await Promise.all(accounts.services.filter((service) => !target || service === target.service).map((service) => accounts.state(service)));
  const items = states.flatMap(({ service, profiles, source }) =>
    profiles.map((profile) => ({ label: profile, description: [service.title, ...(source.kind === 'profile' && source.name === profile ? [l10n.t('signed in')] : [])].join('  '), service, profile })),
  );
  if (items.length === 0) throw new Failure(l10n.t('nobody is signed in'), { title: l10n.t('Sign In'), command: Commands.signIn });
  return items.length === 1 && target ? items[0] : vscode.window.showQuickPick(items, { placeHolder: question });
}
