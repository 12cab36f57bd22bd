import { fail } from './failure.js';
import type { RewardKind } from './kind.js';

/** The sum of the rewards of the steps. */
export const stepReturn: RewardKind<'return'> = (_spec, context) => {
  const { return: sum } = context;
  if (sum === undefined || sum === null) fail('missing', 'no step of the episode had a reward; only the policy `gym` has rewards for steps');
  if (!Number.isFinite(sum)) fail('not-finite', 'a step of the episode had a reward that is not finite');
  return Promise.resolve({ value: sum });
};
