/** Whose account at which service: the variables of the vendor's own SDK. The key stays in memory. */
import { ProviderUnavailable } from '../errors.js';
import type { CreationLimiter } from '../remote/limiter.js';
import { limiterOf as limiterOfAccount } from '../remote/limiters.js';

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

/** What the smallest plan may do. */
const SMALLEST = { perSecond: 1, concurrent: 20 };

export const limiterOf = ({ apiKey, apiUrl }: Account, environment: NodeJS.ProcessEnv): CreationLimiter => limiterOfAccount('e2b', [apiUrl, apiKey], SMALLEST, environment);
