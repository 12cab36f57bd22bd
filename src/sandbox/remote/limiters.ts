/** One limiter for each account in a process, with what the plan of the account allows. */
import { createHash } from 'node:crypto';
import { ProviderUnavailable } from '../errors.js';
import { CreationLimiter, type Allowance } from './limiter.js';

const limiters = new Map<string, CreationLimiter>();

/**
 * The same for all who use one account from this process, whatever run they belong to. `smallest` is what the smallest plan allows; other plans say theirs in
 * `RL_SANDBOXES_<provider>_CREATIONS_PER_SECOND` and `RL_SANDBOXES_<provider>_CONCURRENT`.
 * @throws ProviderUnavailable if one of them is no number above 0
 */
export function limiterOf(provider: string, account: readonly string[], smallest: Allowance, environment: NodeJS.ProcessEnv): CreationLimiter {
  const of = (what: string): string => `RL_SANDBOXES_${provider.toUpperCase()}_${what}`;
  const perSecond = positive(environment, of('CREATIONS_PER_SECOND')) ?? smallest.perSecond;
  const concurrent = positive(environment, of('CONCURRENT')) ?? smallest.concurrent;
  const key = createHash('sha256').update([provider, ...account, perSecond, concurrent].join('\n')).digest('hex');
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
