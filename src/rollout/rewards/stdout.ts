import type { RewardKind } from './kind.js';
import { parseLastLine } from './number.js';
import { verifyOrFail } from './verifier.js';

/** The last line that is not blank of the episode's standard output, or of the verifier's if there is one. */
export const stdout: RewardKind<'stdout'> = async (spec, context) => {
  const verdict = await verifyOrFail(spec, context);
  if (verdict) return { value: parseLastLine(verdict.stdout, "the verifier's standard output") };
  return { value: parseLastLine(context.stdout, 'standard output') };
};
