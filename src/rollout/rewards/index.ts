/** Rewards: one line for each kind, and the weighted sum of a template's components. */
import type { RewardComponent, RewardOutcome, RewardProblem } from '../../store/records.js';
import type { RewardComponentSpec, RewardType, Template } from '../../template/template.js';
import { ctrf } from './ctrf.js';
import { diff } from './diff.js';
import { exitCode } from './exitCode.js';
import { RewardFailure } from './failure.js';
import { files } from './files.js';
import { junit } from './junit.js';
import type { RewardContext, RewardKind, RewardValue } from './kind.js';
import { stepReturn } from './return.js';
import { sandbox } from './sandbox.js';
import { scorer } from './scorer.js';
import { stdout } from './stdout.js';
import { hasVerifier } from './verifier.js';

export type { RewardContext } from './kind.js';

const KINDS: { readonly [T in RewardType]: RewardKind<T> } = {
  stdout,
  return: stepReturn,
  exit_code: exitCode,
  files,
  junit,
  ctrf,
  diff,
  scorer,
  sandbox,
};

/**
 * Computes the template's reward: the sum of weight x value over its components, computed in order; null with a problem if any has none.
 * What an episode left running is killed before anything is read from its sandbox. Rejects with the signal's reason, or with an error of
 * the infrastructure: then nothing is known, and the episode is tried again.
 */
export async function computeReward(template: Template, context: RewardContext): Promise<RewardOutcome> {
  if (template.reward.some(readsSandbox)) await context.sandbox.killAll({ signal: context.signal });
  const components: RewardComponent[] = [];
  let first: RewardProblem | undefined;
  for (const spec of template.reward) {
    context.signal.throwIfAborted();
    const name = uniqueName(spec.name ?? spec.type, components);
    const result = await compute(spec, context, template);
    if (result instanceof RewardFailure) {
      components.push({ name, weight: spec.weight, value: null, problem: result.problem });
      first ??= template.reward.length > 1 ? { ...result.problem, message: `${name}: ${result.message}` } : result.problem;
    } else {
      components.push({ name, weight: spec.weight, value: result.value, ...(result.detail === undefined ? {} : { detail: result.detail }) });
      for (const other of result.others ?? []) components.push({ name: `${name}/${other.name}`, weight: 0, value: other.value });
    }
  }
  const reward = first ? null : components.reduce((sum, { weight, value }) => sum + weight * value!, 0);
  const problem = first ?? judge(reward!, template.rewardRange);
  return problem ? { reward: null, components, problem } : { reward, components };
}

/** Whether a component looks at more than the episode's own output and exit code. */
const readsSandbox = (spec: RewardComponentSpec): boolean => !['stdout', 'exit_code', 'return'].includes(spec.type) || hasVerifier(spec);

async function compute<T extends RewardType>(spec: Extract<RewardComponentSpec, { type: T }>, context: RewardContext, template: Template): Promise<RewardValue | RewardFailure> {
  try {
    return await KINDS[spec.type](spec, context, template);
  } catch (error) {
    if (error instanceof RewardFailure) return error;
    throw error;
  }
}

function judge(reward: number, range: Template['rewardRange']): RewardProblem | undefined {
  if (!Number.isFinite(reward)) return { code: 'not-finite', message: `the weighted sum of the components is ${reward}` };
  if (range && (reward < range[0] || reward > range[1])) return { code: 'out-of-range', message: `the reward is ${reward}, outside the range from ${range[0]} to ${range[1]}` };
  return undefined;
}

/** Components of the same type without a name are `junit`, `junit 2`, ... */
function uniqueName(name: string, taken: readonly RewardComponent[]): string {
  const names = new Set(taken.map((component) => component.name));
  if (!names.has(name)) return name;
  for (let number = 2; ; number++) if (!names.has(`${name} ${number}`)) return `${name} ${number}`;
}
