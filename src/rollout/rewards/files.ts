import { RewardFailure, fail } from './failure.js';
import { parseRewardJson, pickReward } from './json.js';
import type { RewardContext, RewardKind, RewardValue } from './kind.js';
import { parseNumber } from './number.js';
import { readText } from './sandboxFile.js';
import { verifyOrFail } from './verifier.js';

const MAX_BYTES = 1 << 20;

/** `reward.json`, else `reward.txt`. Where both are there they must agree: others read them in different orders. */
export const files: RewardKind<'files'> = async (spec, context) => {
  const directory = spec.directory.replace(/\/+$/, '');
  const [json, txt] = [`${directory}/reward.json`, `${directory}/reward.txt`];
  await verifyOrFail(spec, context, { stale: [json, txt], directory: spec.directory });
  return readRewardFiles(json, txt, context, spec.timeout);
};

async function readRewardFiles(json: string, txt: string, context: RewardContext, timeoutMs: number): Promise<RewardValue> {
  const jsonText = await readText(context, json, { maxBytes: MAX_BYTES, timeoutMs });
  const txtText = await readText(context, txt, { maxBytes: MAX_BYTES, timeoutMs });
  if (jsonText === undefined) {
    if (txtText === undefined) fail('missing', `there is neither ${json} nor ${txt}`);
    return { value: parseNumber(txtText, 'reward.txt'), detail: 'reward.txt' };
  }
  const reward = pickReward(parseRewardJson(jsonText, 'reward.json'), 'reward.json');
  if (txtText !== undefined) requireEqual(reward.value, txtText);
  return { ...reward, detail: 'reward.json' };
}

function requireEqual(value: number, text: string): void {
  try {
    const other = parseNumber(text, 'reward.txt');
    if (other !== value) fail('conflicting', `reward.json says ${value}, but reward.txt says ${other}`);
  } catch (error) {
    if (!(error instanceof RewardFailure) || error.code === 'conflicting') throw error;
    fail('conflicting', `reward.json says ${value}, but ${error.message}`);
  }
}
