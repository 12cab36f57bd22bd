/** Whose account at which service: the variables of the vendor's own SDK. The key stays in memory. */
import { createHash } from 'node:crypto';
import { ProviderUnavailable } from '../errors.js';
import { CreationLimiter } from '../remote/limiter.js';

export interface Account {
  readonly apiKey: string;
  /** Absent: the service's own domain, as the SDK has it. */
  readonly domain: string;
  readonly apiUrl: string;
  /** One address for the inside of all sandboxes. Absent: each has a host name of its own. */
  readonly sandboxUrl?: string;
}

const DOMAIN = 'e2b.app';
export const HINT = 'sign in to E2B in VS Code, or set E2B_API_KEY (and E2B_DOMAIN, or E2B_API_URL and E2B_SANDBOX_URL, for a service of your own)';

/** @throws ProviderUnavailable without a key */
export function accountOf(environment: NodeJS.ProcessEnv): Account {
  const apiKey = environment.E2B_API_KEY;
  if (!apiKey) throw new ProviderUnavailable('E2B_API_KEY is not set', HINT, { problem: 'signed-out' });
  const domain = environment.E2B_DOMAIN || DOMAIN;
  const sandboxUrl = environment.E2B_SANDBOX_URL || (domain === DOMAIN ? `https://sandbox.${DOMAIN}` : undefined);
  return { apiKey, domain, apiUrl: environment.E2B_API_URL || `https://api.${domain}`, sandboxUrl };
}

/** What the smallest plan may do; other plans say theirs in the two variables. */
const CREATIONS_PER_SECOND = 1;
const CONCURRENT = 20;

const limiters = new Map<string, CreationLimiter>();

/** The same for all who use one account from this process, whatever run they belong to. */
export function limiterOf({ apiKey, apiUrl }: Account, environment: NodeJS.ProcessEnv): CreationLimiter {
  const perSecond = positive(environment, 'RL_SANDBOXES_E2B_CREATIONS_PER_SECOND') ?? CREATIONS_PER_SECOND;
  const concurrent = positive(environment, 'RL_SANDBOXES_E2B_CONCURRENT') ?? CONCURRENT;
  const key = createHash('sha256').update([apiUrl, apiKey, perSecond, concurrent].join('\n')).digest('hex');
  let limiter = limiters.get(key);
  if (!limiter) limiters.set(key, (limiter = new CreationLimiter({ perSecond, concurrent })));
  return limiter;
}

function positive(environment: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = environment[name];
  if (!text) return undefined;
  const value = Number(text);
  if (!(value > 0)) throw new ProviderUnavailable(`${name} is "${text}", which is no number above 0`, `correct or unset ${name}`);
  return value;
}
