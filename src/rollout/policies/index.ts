/** Policies: one line for each. */
import type { PolicyName } from '../../template/template.js';
import { command } from './command.js';
import { gym } from './gym/index.js';
import { noop } from './noop.js';
import type { Policy, PolicyKind, PolicyRequest } from './policy.js';
import { oracle, script } from './script.js';

export type { Policy, PolicyRequest } from './policy.js';

const POLICIES: { readonly [N in PolicyName]: PolicyKind } = {
  script,
  oracle,
  noop,
  gym,
  command,
  llm: async (request) => (await import('./llm/index.js')).llm(request),
};

export const POLICY_NAMES: readonly string[] = Object.keys(POLICIES);

/** Throws one sentence if there is no such policy. */
export function checkPolicyName(name: string): PolicyName {
  if (!Object.hasOwn(POLICIES, name)) throw new Error(`there is no policy "${name.slice(0, 40)}": there are ${POLICY_NAMES.join(', ')}`);
  return name as PolicyName;
}

/** Rejects with one sentence if the template lacks what the policy needs. */
export async function openPolicy(name: string, request: PolicyRequest): Promise<Policy> {
  return POLICIES[checkPolicyName(name)](request);
}
