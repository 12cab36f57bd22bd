/**
 * Two traces, aligned step by step. Up to the first step with another action they are paired as they come; from there on by the longest common
 * subsequence of actions, and what lies between two common actions is paired as far as both have steps. So many steps are looked at and no more, however
 * long the traces are: `MOST_PAIRED` of each in step, then `MOST_ALIGNED` of each.
 */
import { createHash } from 'node:crypto';
import type { Part, StepDetail, TraceReader } from './model.js';
import { isRecord } from './text.js';

export const MOST_PAIRED = 10_000;
export const MOST_ALIGNED = 2000;

/** In what two steps that are paired differ. `action`: what was done, or said where nothing was done; `message`: what was said besides. */
export type StepDifference = 'action' | 'message' | 'observation' | 'reward';

/** Two steps side by side; a step that the other trace has no counterpart of stands alone. */
export interface AlignedRow {
  readonly a: number | null;
  readonly b: number | null;
  /** Empty where the steps are the same; also of a step that stands alone. */
  readonly differs: readonly StepDifference[];
}

export interface Alignment {
  readonly rows: readonly AlignedRow[];
  /** Steps of each that were looked at, from the first on; the others were not compared. */
  readonly compared: { readonly a: number; readonly b: number };
}

/** What is compared of a step, as digests. */
interface Keys {
  readonly action: string;
  readonly message: string;
  readonly observation: string;
  readonly reward: string;
}

/** Neither times nor costs nor names of calls, which differ between any two episodes. */
function keysOf(step: StepDetail): Keys {
  const { source, kind, calls = [], action, message, observation, frames, error, files, reward, terminated, truncated, components } = step;
  const does = calls.length > 0 || (action?.length ?? 0) > 0;
  const acts = source === 'agent' || source === 'system' || source === 'user';
  return {
    action: digest([source, does ? [calls.map((call) => [call.name, call.arguments]), content(action)] : acts ? content(message) : kind]),
    message: digest(does || !acts ? content(message) : []),
    observation: digest([calls.map(({ result, exitCode, error: failed }) => [content(result), exitCode, failed]), content(observation), frames?.map(blob), error, files?.map(({ path, change, diff }) => [path, change, diff])]),
    reward: digest([reward, terminated, truncated, components?.map(({ name, value }) => [name, value])]),
  };
}

const content = (parts: readonly Part[] | undefined): unknown => parts?.map((part) => (part.type === 'image' ? blob(part.image) : part.type === 'long' ? blob(part.content) : part));

/** What a blob is called is a matter of its trace; how it begins and how long it is, is not. Where its name is a digest, as in native traces, that says all. */
const blob = ({ blob: name, mediaType, bytes, head }: { readonly blob: string; readonly mediaType: string; readonly bytes?: number; readonly head?: string }): unknown => [mediaType, /[0-9a-f]{64}/.exec(name)?.[0] ?? [bytes, head]];

/** Of a value, whatever the order of its members. */
function digest(value: unknown): string {
  const text: string | undefined = JSON.stringify(value, (_key, member: unknown) => (isRecord(member) ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1))) : member));
  return createHash('sha256').update(text ?? '').digest('base64');
}

/** Reads no more steps than are compared. */
export async function alignTraces(a: TraceReader, b: TraceReader, signal?: AbortSignal): Promise<Alignment> {
  const [stepsA, stepsB] = [(await a.head()).steps, (await b.head()).steps];
  const read = async (reader: TraceReader, index: number): Promise<Keys> => keysOf(await reader.step(index, signal));
  const rows: AlignedRow[] = [];
  let at = 0;
  for (const end = Math.min(stepsA, stepsB, MOST_PAIRED); at < end; at++) {
    signal?.throwIfAborted();
    const [keysA, keysB] = await Promise.all([read(a, at), read(b, at)]);
    if (keysA.action !== keysB.action) break;
    rows.push(paired(at, at, keysA, keysB));
  }
  if (at === MOST_PAIRED) return { rows, compared: { a: at, b: at } };
  const rest = async (reader: TraceReader, steps: number): Promise<Keys[]> => {
    const found: Keys[] = [];
    for (let index = at; index < Math.min(steps, at + MOST_ALIGNED); index++) {
      signal?.throwIfAborted();
      found.push(await read(reader, index));
    }
    return found;
  };
  const [restA, restB] = [await rest(a, stepsA), await rest(b, stepsB)];
  return { rows: [...rows, ...alignKeys(restA, restB, at)], compared: { a: at + restA.length, b: at + restB.length } };
}

function paired(a: number, b: number, keysA: Keys, keysB: Keys): AlignedRow {
  return { a, b, differs: (['action', 'message', 'observation', 'reward'] as const).filter((key) => keysA[key] !== keysB[key]) };
}

function alignKeys(a: readonly Keys[], b: readonly Keys[], offset: number): AlignedRow[] {
  const common = commonActions(a.map(({ action }) => action), b.map(({ action }) => action));
  const rows: AlignedRow[] = [];
  let [atA, atB] = [0, 0];
  for (const [nextA, nextB] of [...common, [a.length, b.length] as const]) {
    for (; atA < nextA || atB < nextB; atA++, atB++) {
      if (atA < nextA && atB < nextB) rows.push(paired(atA + offset, atB + offset, a[atA]!, b[atB]!));
      else rows.push({ a: atA < nextA ? atA + offset : null, b: atB < nextB ? atB + offset : null, differs: [] });
    }
    [atA, atB] = [nextA + 1, nextB + 1];
    if (nextA < a.length && nextB < b.length) rows.push(paired(nextA + offset, nextB + offset, a[nextA]!, b[nextB]!));
  }
  return rows;
}

/** Places of a longest common subsequence, in order: a table of a.length x b.length numbers (Wagner and Fischer, 1974). */
export function commonActions(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  const width = b.length + 1;
  // The longest from here to both ends.
  const longest = new Uint16Array((a.length + 1) * width);
  for (let row = a.length - 1; row >= 0; row--) {
    for (let column = b.length - 1; column >= 0; column--) {
      const at = row * width + column;
      longest[at] = a[row] === b[column] ? longest[at + width + 1]! + 1 : Math.max(longest[at + width]!, longest[at + 1]!);
    }
  }
  const places: [number, number][] = [];
  for (let [row, column] = [0, 0]; row < a.length && column < b.length; ) {
    const at = row * width + column;
    if (a[row] === b[column]) places.push([row++, column++]);
    else if (longest[at + width]! >= longest[at + 1]!) row++;
    else column++;
  }
  return places;
}
