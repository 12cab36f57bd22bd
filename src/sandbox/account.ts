/** Accounts at services: how one is named, and what can be wrong with it. */
import { LimitExceeded, OperationTimeout, ProviderUnavailable } from './errors.js';
import type { Health } from './provider.js';

/** What names an account at a service, as data: the command line reads these variables, the extension asks for their values and keeps them. */
export interface AccountForm {
  /** Variable of the key, as the vendor's own tools have it. Its value is a secret. */
  readonly key: string;
  /** How the vendor calls it, in the middle of a sentence. */
  readonly keyName: string;
  /** Page on which a person makes one. */
  readonly keysAt: string;
  /** The service that is meant where no address is given. */
  readonly service: string;
  /** Variable of another installation's domain, if it has such. */
  readonly domain?: string;
  /** Variables of addresses; those that lead to one installation all get its URL. */
  readonly urls: readonly string[];
  /** Variables that say what the account's plan allows, which are no part of a profile. */
  readonly limits: readonly string[];
}

/** Variables that lead to an account, without its key: they may be written down. */
export const addressNames = ({ domain, urls }: AccountForm): readonly string[] => [...(domain === undefined ? [] : [domain]), ...urls];

/** Why a service gave no good answer, as the result of a provider's `check()`: a wrong key, no network and no quota are told apart. */
export function unhealthy(error: unknown, { otherwise, quota, network }: { readonly otherwise: string; readonly quota: string; readonly network: string }): Health {
  const { message } = error as Error;
  if (error instanceof LimitExceeded) return { ok: false, summary: `the quota of the account is used up: ${message}`, hint: quota, code: 'quota' };
  if (error instanceof OperationTimeout) return { ok: false, summary: message, hint: network, code: 'no-network' };
  if (error instanceof ProviderUnavailable) return { ok: false, summary: message, hint: error.hint, code: error.problem ?? 'error' };
  return { ok: false, summary: message, hint: otherwise, code: 'error' };
}
