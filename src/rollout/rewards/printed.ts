import type { OutputCapture } from '../output.js';
import { parseRewardJson, pickReward } from './json.js';
import type { RewardValue } from './kind.js';
import { parseLastLine } from './number.js';

/** The reward that a scorer prints as its last line: a number, or an object as in `reward.json`. Throws `RewardFailure`. */
export function parsePrinted(output: OutputCapture, whose: string): RewardValue {
  const last = output.lastLine();
  if (!last?.complete || !last.text.trimStart().startsWith('{')) return { value: parseLastLine(output, whose) };
  const what = `the last line of ${whose}`;
  return pickReward(parseRewardJson(last.text, what), what);
}
