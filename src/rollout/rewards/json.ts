/**
 * A reward as JSON: a number, or a flat object of named numbers. Read by hand, because `JSON.parse` keeps the last of two equal keys without
 * a word, and calls NaN a syntax error like any other.
 */
import { fail, quote } from './failure.js';
import type { RewardValue } from './kind.js';

const MAX_KEYS = 1000;
const LONGEST_KEY = 200;

export interface NamedNumber {
  readonly name: string;
  readonly value: number;
}

/**
 * `what` names the text in a sentence (`reward.json`). Throws `RewardFailure`: empty, not-numeric (also for what is not JSON, and for text,
 * booleans, null, lists and objects as values), not-finite (also for the tokens NaN and Infinity), conflicting (a key twice), too-large.
 */
export function parseRewardJson(text: string, what: string): number | readonly NamedNumber[] {
  const reader = new Reader(text, what);
  reader.skipBlanks();
  if (reader.atEnd) fail('empty', `${what} is empty`);
  if (!reader.take('{')) {
    const value = reader.number(what);
    reader.end();
    return value;
  }
  const numbers = new Map<string, number>();
  reader.skipBlanks();
  if (reader.take('}')) fail('empty', `${what} names no value`);
  do {
    const name = reader.key();
    if (numbers.has(name)) fail('conflicting', `${what} has the key ${quote(name)} twice`);
    numbers.set(name, reader.number(`${quote(name)} in ${what}`));
    if (numbers.size > MAX_KEYS) fail('too-large', `${what} names more than ${MAX_KEYS} values`);
    reader.skipBlanks();
  } while (reader.take(','));
  reader.expect('}');
  reader.end();
  return [...numbers].map(([name, value]) => ({ name, value }));
}

/** The value named `reward`, or the only one there is; the others are shown beside it. Throws `RewardFailure` (conflicting). */
export function pickReward(parsed: number | readonly NamedNumber[], what: string): RewardValue {
  if (typeof parsed === 'number') return { value: parsed };
  const main = parsed.find(({ name }) => name === 'reward') ?? (parsed.length === 1 ? parsed[0] : undefined);
  if (!main) fail('conflicting', `${what} names ${parsed.length} values (${list(parsed)}), and none of them is "reward": add "reward", or keep only one`);
  return { value: main.value, others: parsed.filter((other) => other !== main) };
}

const list = (parsed: readonly NamedNumber[]): string => [...parsed.slice(0, 3).map(({ name }) => quote(name)), ...(parsed.length > 3 ? ['...'] : [])].join(', ');

/** Scans from left to right; every failure says where. */
class Reader {
  private position = 0;

  constructor(
    private readonly text: string,
    private readonly what: string,
  ) {}

  get atEnd(): boolean {
    return this.position === this.text.length;
  }

  skipBlanks(): void {
    this.match(/[ \t\r\n]*/y);
  }

  take(character: string): boolean {
    if (this.text[this.position] !== character) return false;
    this.position += 1;
    return true;
  }

  expect(character: string): void {
    if (!this.take(character)) this.malformed(`expected "${character}"`);
  }

  end(): void {
    this.skipBlanks();
    if (!this.atEnd) this.malformed('expected its end');
  }

  /** A key and its colon. */
  key(): string {
    this.skipBlanks();
    // Bounded, as each character costs the matcher stack; a character takes up to six as an escape.
    const literal = this.match(/"(?:[^"\\\u0000-\u001f]|\\.){0,1200}"/y);
    if (literal === undefined) this.malformed(`expected a key of at most ${LONGEST_KEY} characters in double quotes`);
    let name: string;
    try {
      // A lone surrogate written as an escape could not be written out again as UTF-8.
      name = (JSON.parse(literal) as string).replace(/\p{Surrogate}/gu, '\ufffd');
    } catch {
      this.malformed('expected a valid escape', literal.length);
    }
    if (name.length > LONGEST_KEY) fail('too-large', `a key of ${this.what} has more than ${LONGEST_KEY} characters`);
    this.skipBlanks();
    this.expect(':');
    return name;
  }

  number(what: string): number {
    this.skipBlanks();
    const token = this.match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y);
    if (token !== undefined) {
      const value = Number(token);
      if (!Number.isFinite(value)) fail('not-finite', `${what} is ${quote(token)}, which is beyond what a double can hold`);
      return value + 0;
    }
    const word = this.match(/[-+]?[A-Za-z]+\b/y);
    if (word && /^[-+]?(nan|inf|infinity)$/i.test(word)) fail('not-finite', `${what} is ${word}; a reward must be finite`);
    if (word && /^(true|false|null)$/.test(word)) fail('not-numeric', `${what} is ${word}, not a number`);
    const kind = ({ '{': 'an object', '[': 'a list', '"': 'text' } as Record<string, string>)[this.text[this.position] ?? ''];
    if (!word && kind) fail('not-numeric', `${what} is ${kind}, not a number`);
    this.malformed('expected a number', word?.length);
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.text)?.[0];
    this.position += found?.length ?? 0;
    return found;
  }

  private malformed(expected: string, back = 0): never {
    fail('not-numeric', `${this.what} is not JSON: ${expected} at character ${this.position - back + 1}`);
  }
}
