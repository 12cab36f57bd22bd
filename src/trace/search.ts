/** Search in the bytes of a trace: a coarse look for an ASCII part of the text, then an exact one in the strings of the step. */
import { windows, type Bytes, type Span } from './bytes.js';
import { wellFormed } from './text.js';

const AROUND = 60;
/** Bytes that are made a string at once. Longer ones are not among the young of the garbage collector, and cost twice the time. */
const PIECE = 64 << 10;

/**
 * Offsets where the text may be, or where a mark is, in order, some of them twice. `skip` says up to where the caller wants no more of them. A text with no run of plain ASCII may
 * be anywhere, since it may be escaped in more than one way: then every line or value is a place to look at.
 */
export async function* searchBytes(bytes: Bytes, range: Span, text: string, mark: string | undefined, skip: () => number, signal?: AbortSignal): AsyncGenerator<number> {
  const run = longestRun(text);
  // Classes of two letters are matched twice as fast as the flag i.
  const literal = run ? [...run].map((char) => (/[a-z]/i.test(char) ? `[${char.toLowerCase()}${char.toUpperCase()}]` : char === '/' ? '\\\\?\\/' : escaped(char))).join('') : '[^\\s,]';
  const pattern = new RegExp(literal, 'g');
  const overlap = Math.max(run.length * 2, mark?.length ?? 0, 1) - 1;
  for await (const { at, data } of windows(bytes, range, { overlap, passing: true, signal })) {
    let marked = mark === undefined ? Infinity : orInfinity(data.indexOf(mark));
    for (let first = 0; first < data.length; first += PIECE) {
      const piece = data.toString('latin1', first, first + PIECE + overlap);
      const find = (from: number): number => ((pattern.lastIndex = from - first), first + (pattern.exec(piece)?.index ?? Infinity));
      let found = find(first);
      for (let place = Math.min(found, marked); place < first + PIECE; place = Math.min(found, marked)) {
        yield at + place;
        const from = Math.max(place + 1, skip() - at);
        if (found < from) found = find(from);
        if (marked < from) marked = orInfinity(data.indexOf(mark!, from));
      }
    }
  }
}

const orInfinity = (index: number): number => (index < 0 ? Infinity : index);

const escaped = (text: string): string => text.replace(/\W/g, '\\$&');

/** The longest part that stands in JSON as it is, but for a backslash that some writers put before a slash: no quote, backslash, control or other than ASCII. */
function longestRun(text: string): string {
  return (text.match(/[ !#-[\]-~]+/g) ?? []).reduce((best, run) => (run.length > best.length ? run : best), '');
}

/** The first place in the strings of JSON values that holds the text. */
export function findIn(values: readonly unknown[], text: string): { text: string; start: number; end: number } | undefined {
  const wanted = text.toLowerCase();
  for (const string of strings(values)) {
    const at = string.toLowerCase().indexOf(wanted);
    if (at >= 0) return around(string, at, text.length);
  }
  return undefined;
}

/** Texts, keys and numbers of a value, in its order. */
function* strings(value: unknown): Generator<string> {
  const open: unknown[] = [value];
  while (open.length) {
    const next = open.pop();
    if (typeof next === 'string') yield next;
    else if (typeof next === 'number' || typeof next === 'boolean') yield String(next);
    else if (Array.isArray(next)) open.push(...(next as unknown[]).slice(0, 100_000).reverse());
    else if (next && typeof next === 'object') for (const [key, inner] of Object.entries(next).reverse()) open.push(inner, key);
  }
}

function around(string: string, at: number, length: number): { text: string; start: number; end: number } {
  const from = Math.max(0, at - AROUND);
  const flat = (part: string): string => wellFormed(part).replace(/\s/g, ' ');
  const before = (from > 0 ? '…' : '') + flat(string.slice(from, at));
  const hit = flat(string.slice(at, at + length));
  const rest = string.length > at + length + AROUND ? '…' : '';
  return { text: before + hit + flat(string.slice(at + length, at + length + AROUND)) + rest, start: before.length, end: before.length + hit.length };
}
