/** What differs between a recorded step and the same one taken again, in a few words. Times do not count. */
import { isDeepStrictEqual } from 'node:util';
import type { Observation, StepEvent } from '../../trace/events.js';
import { isBlob } from '../../trace/writer.js';
import type { StepResult } from '../stage.js';

export function differenceOf(old: StepEvent, now: StepResult): string | undefined {
  const [before, after] = [comparable(old.observation), comparable(now.observation)];
  if (before.kind !== after.kind) return `the observation is ${after.kind}, and was ${before.kind}`;
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!isDeepStrictEqual(before[key], after[key])) return key === 'results' ? resultDifference(before[key] as Results, after[key] as Results) : `${NAMES[key] ?? key} is ${short(after[key])}, and was ${short(before[key])}`;
  }
  if ((now.reward ?? null) !== old.reward) return `the reward is ${now.reward}, and was ${old.reward}`;
  const isValue = old.action.kind === 'value';
  if (isValue && ((now.terminated ?? false) !== old.terminated || (now.truncated ?? false) !== old.truncated)) return `it ${now.terminated ? 'terminates' : now.truncated ? 'truncates' : 'goes on'}, and did not`;
  return undefined;
}

const NAMES: Readonly<Record<string, string>> = { stdout: 'standard output', stderr: 'standard error', exitCode: 'the exit code', value: 'the observation' };
type Results = readonly Readonly<Record<string, unknown>>[];

/** As it is on disk: without what is undefined. */
function comparable(observation: Observation): { readonly kind: string } & Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(observation, (key, value: unknown) => (key === 'ms' ? undefined : value))) as ReturnType<typeof comparable>;
}

function resultDifference(before: Results, after: Results): string {
  const index = after.findIndex((each, position) => !isDeepStrictEqual(each, before[position]));
  const [now, then] = [after[index] ?? {}, before[index] ?? {}];
  const key = Object.keys({ ...then, ...now }).find((name) => !isDeepStrictEqual(now[name], then[name])) ?? 'stdout';
  return `${NAMES[key] ?? key} of call ${index + 1} is ${short(now[key])}, and was ${short(then[key])}`;
}

function short(value: unknown): string {
  if (value === undefined) return 'none';
  const text = JSON.stringify(isBlob(value) ? (value.head ?? value.blob) : value);
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
