/** Rewards as verifiers of others report them: several names, one of which may be the one that counts. */
import type { StepDetail } from '../model.js';
import { isRecord, numberOf } from '../text.js';

export interface Rewards {
  readonly reward: number | null;
  readonly components?: StepDetail['components'];
}

/**
 * Of a flat object of numbers: the one called `reward`, else the only one; several without that name are shown and none of them is taken
 * for the reward. What is no finite number is `null`.
 */
export function rewardsOf(value: unknown): Rewards {
  if (typeof value === 'number' || typeof value === 'string') return { reward: numberOf(value) ?? null };
  if (!isRecord(value)) return { reward: null };
  const entries = Object.entries(value);
  const components = entries.map(([name, one]) => ({ name, value: numberOf(one) ?? null, ...(typeof one === 'string' && { detail: one }) }));
  const main = Object.hasOwn(value, 'reward') ? value.reward : entries.length === 1 ? entries[0]![1] : undefined;
  return { reward: numberOf(main) ?? null, ...(components.length > 1 && { components }) };
}
