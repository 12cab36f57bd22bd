/** What an environment gave, as a trace holds it: pictures are blobs. */
import type { Content, StoredBlob } from '../../../trace/events.js';
import type { TraceWriter } from '../../../trace/writer.js';
import type { Stage, StepResult } from '../../stage.js';
import type { Beginning, Transition } from './driver.js';

export function resultOf(stage: Stage, transition: Transition): StepResult {
  const { reward, terminated, truncated } = transition;
  // One that is not finite is none, and the return is none either.
  if (typeof reward === 'string') stage.return = NaN;
  return { ...seen(stage.trace, transition), reward: typeof reward === 'number' ? reward : null, terminated, truncated, ...(typeof reward === 'string' ? { error: `the reward is ${reward}` } : {}) };
}

export function seen(trace: TraceWriter, { observation, info, frames }: Beginning): StepResult {
  const kept = frames.map((frame) => (typeof frame === 'string' ? trace.blob(Buffer.from(frame.toWellFormed()), 'text/plain') : picture(trace, frame.$image)));
  return {
    observation: { kind: 'value', value: trace.content(pictures(trace, observation)) },
    ...(typeof info === 'object' && info !== null && Object.keys(info).length > 0 ? { info: trace.content(pictures(trace, info)) } : {}),
    ...(kept.length ? { frames: kept } : {}),
  };
}

const picture = (trace: TraceWriter, base64: string): StoredBlob => trace.blob(Buffer.from(base64, 'base64'), 'image/png');

/** Replaces the pictures in a value by blobs. */
function pictures(trace: TraceWriter, value: Content): Content {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.some((each) => typeof each === 'object') ? value.map((each) => pictures(trace, each as Content)) : (value as Content);
  const image = (value as { readonly $image?: unknown }).$image;
  if (typeof image === 'string') return picture(trace, image);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, pictures(trace, each as Content)]));
}
