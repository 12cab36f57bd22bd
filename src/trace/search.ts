/** Search in the bytes of a trace: a coarse look for an ASCII part of the text, then an exact one in the strings of the step. */
import { windows, type Bytes, type Span } from './bytes.js';
import { readJson } from './json/prune.js';
import { wellFormed } from './text.js';

const AROUND = 60;

/**
 * Offsets where the text may be, in order. `skip` says up to where the caller wants no more of them. A text with no run of plain ASCII may
 * be anywhere, since it may be escaped in more than one way: then every line or value is a place to look at.
 */
export async function* searchBytes(bytes: Bytes, range: Span, text: string, skip: () => number, signal?: AbortSignal): AsyncGenerator<number> {
  const run = longestRun(text);
  const pattern = new RegExp(run ? run.replace(/[.*+?^${}()|[\]\\-]/g, '\\$&') : '[^\\s,]', 'gi');
  const overlap = Math.max(0, run.length - 1);
  let carried = '';
  for await (const { at, data } of windows(bytes, range, signal)) {
    const window = carried + data.toString('latin1');
    const base = at - carried.length;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(window); match; match = pattern.exec(window)) {
      yield base + match.index;
      const next = skip() - base;
      if (next > pattern.lastIndex) pattern.lastIndex = next;
      if (next > window.length) break;
    }
    carried = overlap ? window.slice(-overlap) : '';
  }
}

/** The longest part that stands in JSON as it is: no quote, backslash, slash, control or other than ASCII. */
function longestRun(text: string): string {
  return (text.match(/[ !#-.0-[\]-~]+/g) ?? []).reduce((best, run) => (run.length > best.length ? run : best), '');
}

/** The first place in the strings of a JSON value, or of several on lines of their own, that holds the text. */
export async function findIn(bytes: Bytes, span: Span, text: string): Promise<{ text: string; start: number; end: number } | undefined> {
  const wanted = text.toLowerCase();
  for (const value of await values(bytes, span)) {
    for (const string of strings(value)) {
      const at = string.toLowerCase().indexOf(wanted);
      if (at >= 0) return around(string, at, text.length);
    }
  }
  return undefined;
}

async function values(bytes: Bytes, span: Span): Promise<unknown[]> {
  try {
    return [(await readJson(bytes, span)).value];
  } catch {
    const content = (await bytes.read(span.start, Math.min(span.end, span.start + (4 << 20)))).toString('utf8');
    const lines = content.split('\n').flatMap((line) => {
      try {
        return [JSON.parse(line) as unknown];
      } catch {
        return [];
      }
    });
    return lines.length ? lines : [content];
  }
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
