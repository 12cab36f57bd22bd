/**
 * The filter language of the episode table: terms separated by blanks, all of which must hold. `field:value`, `field:low..high` (both ends
 * count), `field<value` and so on; a leading `-` turns a term round; anything else is text to find in the cause. Quotes keep blanks and
 * signs in text together.
 */
import type { EpisodeRecord, EpisodeStatus } from '../store/records.js';
import { parseDuration } from '../template/units.js';
import { causeCode } from './summary.js';

export type Predicate = (record: EpisodeRecord) => boolean;

export interface ParsedFilter {
  /** Terms that were understood, all of which must hold. */
  readonly matches: Predicate;
  /** One sentence about the first term that was not. */
  readonly error?: string;
}

const STATUSES: readonly EpisodeStatus[] = ['completed', 'truncated', 'error', 'cancelled'];

const NUMBERS: Readonly<Record<string, (record: EpisodeRecord) => number | null>> = {
  reward: (record) => record.reward,
  seed: (record) => record.seed,
  sample: (record) => record.sample,
  episode: (record) => record.episode,
  steps: (record) => record.steps,
  attempts: (record) => record.attempts,
  time: (record) => record.timings.total,
};
const FIELDS = ['status', 'cause', ...Object.keys(NUMBERS)];

const COMPARE: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  ':': (value, bound) => value === bound,
  '=': (value, bound) => value === bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
};

/** Never throws: what is not understood is left out and said. */
export function parseFilter(filter: string): ParsedFilter {
  const predicates: Predicate[] = [];
  let error: string | undefined;
  for (const token of filter.match(/-?"[^"]*"?|[^\s"]+(?:"[^"]*"?)?/g) ?? []) {
    try {
      const negated = token.length > 1 && token.startsWith('-');
      const holds = parseTerm(negated ? token.slice(1) : token);
      predicates.push(negated ? (record) => !holds(record) : holds);
    } catch (thrown) {
      if (!(thrown instanceof FilterError)) throw thrown;
      error ??= thrown.message;
    }
  }
  return { matches: (record) => predicates.every((holds) => holds(record)), error };
}

class FilterError extends Error {}

function parseTerm(term: string): Predicate {
  const [, field, sign, raw] = /^([A-Za-z_]+)(<=|>=|[:=<>])(.*)$/s.exec(term) ?? [];
  if (field === undefined) return inCause(unquote(term));
  const value = unquote(raw!);
  if (value === '') throw new FilterError(`"${term}" has no value`);
  const name = field.toLowerCase();
  if (name === 'status') return byStatus(value, sign!);
  if (name === 'cause') return byCause(value, sign!);
  const read = Object.hasOwn(NUMBERS, name) ? NUMBERS[name]! : undefined;
  if (!read) throw new FilterError(`"${field}" is not a field (${FIELDS.join(', ')}); put text in quotes: "${term}"`);
  return byNumber(name, read, sign!, value);
}

const unquote = (text: string): string => text.replace(/^"([^"]*)"?$/s, '$1');

function inCause(text: string): Predicate {
  const wanted = text.toLowerCase();
  return (record) => record.cause?.toLowerCase().includes(wanted) ?? false;
}

function byStatus(value: string, sign: string): Predicate {
  const status = STATUSES.find((each) => each === value.toLowerCase());
  if (!status) throw new FilterError(`"${value}" is not a status (${STATUSES.join(', ')})`);
  if (sign !== ':' && sign !== '=') throw new FilterError(`"status" has no order: write status:${status}`);
  return (record) => record.status === status;
}

/** By the code of a cause, not by its sentence: a part of it after `:`, all of it after `=`. */
function byCause(value: string, sign: string): Predicate {
  const wanted = value.toLowerCase();
  if (sign === '=') return (record) => record.cause !== undefined && causeCode(record.cause).toLowerCase() === wanted;
  if (sign !== ':') throw new FilterError(`"cause" has no order: write cause:${value}`);
  return (record) => record.cause !== undefined && causeCode(record.cause).toLowerCase().includes(wanted);
}

/** An episode without a reward matches `reward:none` and nothing else. */
function byNumber(name: string, read: (record: EpisodeRecord) => number | null, sign: string, value: string): Predicate {
  const equality = sign === ':' || sign === '=';
  if (name === 'reward' && equality && value.toLowerCase() === 'none') return (record) => record.reward === null;
  const ends = equality && value.includes('..') ? value.split('..') : [value];
  const numbers = ends.map((end) => toNumber(name, end));
  if (ends.length > 2 || numbers.includes(undefined)) {
    const examples = name === 'time' ? `${name}>2000, ${name}>2s or ${name}:100..200` : `${name}:1, ${name}:1..5 or ${name}<5`;
    throw new FilterError(`"${value}" is not a number or a range: write ${examples}`);
  }
  const [low, high] = numbers as number[];
  const holds = high === undefined ? (number: number) => COMPARE[sign]!(number, low!) : (number: number) => number >= low! && number <= high;
  return (record) => {
    const number = read(record);
    return number !== null && holds(number);
  };
}

/** Times may have a unit; without one they are milliseconds. */
function toNumber(name: string, text: string): number | undefined {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  return name === 'time' ? parseDuration(text) : undefined;
}
