/** Long texts of a step stay behind: a step carries how they begin, and a name by which the whole is asked for. */
import type { Part, StepDetail } from './model.js';
import { wellFormed } from './text.js';

const LONG = 64 << 10;
const HEAD = 4 << 10;
const REF = /^part:(\d+):([a-z0-9.]+)$/i;

const MEDIA: Partial<Record<Part['type'], string>> = { terminal: 'text/x-ansi', text: 'text/markdown', code: 'text/x-code', diff: 'text/x-diff', json: 'application/json' };

/** `index` is the number by which the step is asked for. */
export function shorten(step: StepDetail, index: number): StepDetail {
  const parts = (list: readonly Part[] | undefined, path: string): Part[] | undefined => list?.map((part, at) => shortenPart(part, `part:${index}:${path}.${at}`));
  const { reasoning, message, action, observation, calls } = step;
  return {
    ...step,
    ...(reasoning && { reasoning: parts(reasoning, 'reasoning') }),
    ...(message && { message: parts(message, 'message') }),
    ...(action && { action: parts(action, 'action') }),
    ...(observation && { observation: parts(observation, 'observation') }),
    ...(calls && { calls: calls.map((call, at) => ({ ...call, result: parts(call.result, `calls.${at}.result`)! })) }),
  };
}

function shortenPart(part: Part, blob: string): Part {
  const text = textOf(part);
  if (text === undefined || text.length <= LONG) return part;
  return { type: 'long', content: { blob, mediaType: MEDIA[part.type]!, bytes: Buffer.byteLength(text), head: wellFormed(text.slice(0, HEAD)) } };
}

function textOf(part: Part): string | undefined {
  if (part.type === 'image' || part.type === 'long') return undefined;
  if (part.type !== 'json') return part.text;
  try {
    return JSON.stringify(part.value, null, 2);
  } catch {
    return undefined;
  }
}

/** The whole of a part that `shorten` left behind; `undefined` if the name is of something else. */
export async function blobOfPart(ref: string, load: (index: number) => Promise<StepDetail>): Promise<Uint8Array | undefined> {
  const match = REF.exec(ref);
  if (!match) return undefined;
  let found: unknown = await load(Number(match[1]));
  for (const name of match[2]!.split('.')) found = found && typeof found === 'object' && Object.hasOwn(found, name) ? (found as Record<string, unknown>)[name] : undefined;
  const text = found && typeof found === 'object' && 'type' in found ? textOf(found as Part) : undefined;
  if (text === undefined) throw new Error('the step has no such part');
  return new TextEncoder().encode(text);
}
