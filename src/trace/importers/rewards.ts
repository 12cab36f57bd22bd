/** Rewards as verifiers of others report them: several names, one of which may be the one that counts. */
import { MemoryBytes } from '../bytes.js';
import type { Described, DocumentReader } from '../document.js';
import type { StepDetail } from '../model.js';
import { isRecord, numberOf, titleOf } from '../text.js';

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

/** A step for a reward that stands beside the steps: the last one. */
export function addVerdict(reader: DocumentReader, { reward = null, error, title, label = 'reward', ...more }: Partial<Described>): void {
  const data = Buffer.from(JSON.stringify({ reward, ...more }));
  reader.add({
    bytes: new MemoryBytes(data),
    start: 0,
    end: data.length,
    kind: 'verifier',
    map: () => ({ label, source: 'verifier', kind: error ? 'error' : 'verifier', title: title ?? `reward ${reward ?? 'unknown'}`, reward, ...(error && { error: titleOf(error) }), ...more }),
  });
}
