/** Policies: one line for each. */
import type { PolicyName } from '../../template/template.js';
import { command } from './command.js';
import { gym } from './gym/index.js';
import { manual } from './manual.js';
import { noop } from './noop.js';
import type { Policy, PolicyKind, PolicyRequest } from './policy.js';
import { replay } from './replay.js';
import { oracle, script } from './script.js';

export { forked, type Fork } from './forked.js';
export type { Policy, PolicyRequest } from './policy.js';
export { ManualSeats, type ManualAction, type ManualAnswer } from './manual.js';

const POLICIES: { readonly [N in Name]: PolicyKind } = {
  script,
  oracle,
  noop,
  gym,
  replay,
  manual,
  command,
  llm: async (request) => (await import('./llm/index.js')).llm(request),
};

export const POLICY_NAMES: readonly string[] = Object.keys(POLICIES);

/** Those that a template can name, and those that only a run can. */
type Name = PolicyName | 'replay';

/** Throws one sentence if there is no such policy. */
function checkPolicyName(name: string): Name {
  if (!Object.hasOwn(POLICIES, name)) throw new Error(`there is no policy "${name.slice(0, 40)}": there are ${POLICY_NAMES.join(', ')}`);
  return name as Name;
}

/** Rejects with one sentence if the template lacks what the policy needs. */
export async function openPolicy(name: string, request: PolicyRequest): Promise<Policy> {
  return POLICIES[checkPolicyName(name)](request);
}
