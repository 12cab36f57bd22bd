/**
 * Accounts at services: profiles with their keys in VS Code's secret storage, and which of them counts. A key goes from there to the engine over
 * its private socket, and nowhere else.
 */
import * as vscode from 'vscode';
import type { ProviderReport } from '../runner/api.js';
import { relevant } from '../runner/connect.js';
import { addressNames, type AccountForm } from '../sandbox/account.js';
import { PROVIDERS } from '../sandbox/registry.js';
import { Disposing } from './dispose.js';
import { roots } from './roots.js';
import type { Runner } from './runner.js';

/** A provider that is paid for, and how an account there is named. */
export interface Service {
  readonly id: string;
  readonly title: string;
  readonly account: AccountForm;
}

const SERVICES: readonly Service[] = PROVIDERS.flatMap(({ id, title, account }) => (account ? [{ id, title, account }] : []));

/** Values of a profile's variables, its key among them. */
type Variables = Readonly<Record<string, string>>;

/** What is known of an account, without its key. */
export interface AccountState {
  readonly service: Service;
  readonly profiles: readonly string[];
  /** Where the key comes from that counts now. */
  readonly source: { readonly kind: 'profile'; readonly name: string } | { readonly kind: 'environment' } | { readonly kind: 'none' };
  /** The profile that is to count, whose key VS Code has not kept. */
  readonly lost?: string;
  /** Of the last check since it counts. */
  readonly report?: ProviderReport;
}

const secretOf = (provider: string): string => `account.${provider}`;
const ACTIVE = 'account.active';

export interface AccountsOptions {
  readonly secrets: vscode.SecretStorage;
  readonly state: vscode.Memento;
  /** Stands in for a workspace folder where none is open, or none is trusted. */
  readonly storage: string;
  readonly runner: () => Runner;
  readonly log: vscode.LogOutputChannel;
}

export class Accounts extends Disposing {
  readonly services = SERVICES;
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  readonly onDidChange = this.changed.event;
  private readonly reports = new Map<string, ProviderReport>();
  /** What the engine was told last; stays in memory. */
  private told = '';

  constructor(private readonly options: AccountsOptions) {
    super();
    // Of another window, too.
    this.own(options.secrets.onDidChange(({ key }) => SERVICES.some(({ id }) => secretOf(id) === key) && void this.tell()));
  }

  /** Variables in place of those of the environment: a profile brings all that leads to its account. */
  async variables(): Promise<NodeJS.ProcessEnv> {
    const all = await Promise.all(
      SERVICES.map(async ({ id, account }) => {
        const active = this.active(id);
        const profile = active === undefined ? undefined : (await this.read(id))[active];
        return profile ? over(account, profile) : {};
      }),
    );
    return Object.assign({}, ...all) as NodeJS.ProcessEnv;
  }

  async state(service: Service): Promise<AccountState> {
    const profiles = Object.keys(await this.read(service.id)).sort();
    const active = this.active(service.id);
    const report = this.reports.get(service.id);
    if (active !== undefined && profiles.includes(active)) return { service, profiles, report, source: { kind: 'profile', name: active } };
    return { service, profiles, report, lost: active, source: { kind: process.env[service.account.key] ? 'environment' : 'none' } };
  }

  /** Tries an account before it is kept. */
  try({ id, account }: Service, variables: Variables, signal?: AbortSignal): Promise<ProviderReport> {
    return this.ask(id, { ...process.env, ...over(account, variables) }, signal);
  }

  /** Asks the service with the account that counts. */
  async check({ id }: Service, signal?: AbortSignal): Promise<ProviderReport> {
    const report = await this.ask(id, undefined, signal);
    this.reports.set(id, report);
    this.changed.fire();
    return report;
  }

  /** Keeps a profile, in place of one of the same name, and has it count. */
  async signIn({ id }: Service, name: string, variables: Variables, report: ProviderReport): Promise<void> {
    await this.setActive(id, name);
    await this.options.secrets.store(secretOf(id), JSON.stringify({ ...(await this.read(id)), [name]: variables }));
    await this.tell();
    this.reports.set(id, report);
    this.changed.fire();
  }

  /** Forgets a profile and its key. */
  async signOut({ id }: Service, name: string): Promise<void> {
    const { [name]: _, ...others } = await this.read(id);
    if (this.active(id) === name) await this.setActive(id, undefined);
    if (Object.keys(others).length > 0) await this.options.secrets.store(secretOf(id), JSON.stringify(others));
    else await this.options.secrets.delete(secretOf(id));
    await this.tell();
  }

  /** Has another profile count; undefined: what the environment says. */
  async use({ id }: Service, name: string | undefined): Promise<void> {
    await this.setActive(id, name);
    await this.tell();
  }

  private active(provider: string): string | undefined {
    return this.options.state.get<Record<string, string>>(ACTIVE)?.[provider];
  }

  private async setActive(provider: string, name: string | undefined): Promise<void> {
    const { [provider]: _, ...others } = this.options.state.get<Record<string, string>>(ACTIVE) ?? {};
    await this.options.state.update(ACTIVE, name === undefined ? others : { ...others, [provider]: name });
  }

  private async read(provider: string): Promise<Readonly<Record<string, Variables>>> {
    const text = await this.options.secrets.get(secretOf(provider));
    if (text === undefined) return {};
    try {
      return JSON.parse(text) as Record<string, Variables>;
    } catch {
      this.options.log.warn(`the profiles of ${provider} cannot be read; sign in again`);
      return {};
    }
  }

  private async ask(provider: string, environment: NodeJS.ProcessEnv | undefined, signal?: AbortSignal): Promise<ProviderReport> {
    const folder = vscode.workspace.isTrusted ? roots()[0]?.path : undefined;
    return this.options.runner().request('account/check', { root: folder ?? this.options.storage, provider, environment: environment && relevant(environment) }, { signal });
  }

  /** Tells the engine which accounts count, and who shows them. What was known of the service is of another account. */
  private async tell(): Promise<void> {
    const now = JSON.stringify(await this.variables());
    if (now !== this.told) {
      this.told = now;
      this.reports.clear();
      await this.options.runner().useAccounts();
    }
    this.changed.fire();
  }
}

/** A profile has all of its account's variables: none is left over from the environment. */
const over = (account: AccountForm, variables: Variables): NodeJS.ProcessEnv =>
  Object.fromEntries([account.key, ...addressNames(account)].map((name) => [name, variables[name]]));
