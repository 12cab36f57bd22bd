/** Texts and messages that a sample keeps once and refers to: `attachment://<key>` (older: `tc://<key>`), and ranges of the pool of messages. */
import type { Bytes, Span } from '../../bytes.js';
import { readJson } from '../../json/prune.js';
import { isRecord } from '../../text.js';

export interface Place extends Span {
  readonly bytes: Bytes;
}

const REF = /^(?:attachment|tc):\/\/(.+)$/s;
const MOST_DEPTH = 60;
const MOST_MESSAGES = 2000;

export class Pools {
  constructor(
    private readonly attachments: ReadonlyMap<string, Place>,
    private readonly messages: readonly Place[],
  ) {}

  /** The value with what it refers to in place. A reference to nothing stays as it stands. */
  async resolve(value: unknown, depth = 0): Promise<unknown> {
    if (typeof value === 'string') {
      const key = REF.exec(value)?.[1];
      const place = key === undefined ? undefined : this.attachments.get(key);
      return place ? (await readJson(place.bytes, place)).value : value;
    }
    if (depth > MOST_DEPTH || typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return Promise.all(value.map((inner: unknown) => this.resolve(inner, depth + 1)));
    const entries = await Promise.all(Object.entries(value).map(async ([key, inner]) => [key, await this.resolve(inner, depth + 1)] as const));
    return Object.fromEntries(entries);
  }

  /** What a model was sent: `input`, or the ranges of `input_refs` in the pool, ends not included. */
  async input(event: Record<string, unknown>): Promise<unknown> {
    if (!Array.isArray(event.input_refs)) return event.input;
    const result: unknown[] = [];
    for (const range of event.input_refs as unknown[]) {
      if (!Array.isArray(range)) continue;
      const [from, to] = range as unknown[];
      if (typeof from !== 'number' || typeof to !== 'number') continue;
      for (const place of this.messages.slice(from, Math.min(to, from + MOST_MESSAGES))) result.push(await this.resolve((await readJson(place.bytes, place)).value));
    }
    return result;
  }
}

/** Scores as Inspect itself turns them into numbers (`value_to_float`): C is 1, P is 0.5, I and N are 0; no number for anything else. */
function scoreOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'string' && Object.hasOwn(LETTERS, value) ? LETTERS[value]! : null;
}
const LETTERS: Record<string, number> = { C: 1, P: 0.5, I: 0, N: 0 };

/** Every score of a sample; one that is a list of named values gives one component for each. */
export function componentsOf(scores: unknown): { name: string; value: number | null; detail?: string }[] {
  if (!isRecord(scores)) return [];
  return Object.entries(scores).flatMap(([name, score]) => {
    const value = isRecord(score) ? score.value : score;
    if (isRecord(value)) return Object.entries(value).map(([key, inner]) => ({ name: `${name}.${key}`, value: scoreOf(inner) }));
    const detail = [typeof value === 'string' ? value : undefined, isRecord(score) && typeof score.answer === 'string' ? `answer: ${score.answer}` : undefined].filter((part) => part !== undefined).join(', ');
    return [{ name, value: scoreOf(value), ...(detail && { detail: detail.slice(0, 500) }) }];
  });
}
