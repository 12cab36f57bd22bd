/** What the schema finds, as one sentence for each finding: what was expected, and what is written there. */
import type { core } from 'zod';
import { templateSchema, type TemplateInput } from './schema.js';
import { nearest } from './suggest.js';
import { formatPath, orList, quoteName, quoteValue, safe, type DocumentPath } from './text.js';

/** A finding about a key or a value of the document. */
export interface Finding {
  readonly path: DocumentPath;
  readonly at: 'key' | 'value';
  readonly message: string;
  /** Keys that are missing, any of which would do, and the key that an unknown one was taken for: the same mistake is told once. */
  readonly lacks?: readonly string[];
  readonly meant?: string;
}

type Issue = core.$ZodIssue;
type RawIssue = core.$ZodRawIssue;

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: '`true` or `false`',
  array: 'a list',
  tuple: 'a list',
  object: 'a map of keys and values',
  record: 'a map of names and values',
};
const count = (n: number | bigint, one: string, many: string): string => (n === 1 ? `1 ${one}` : `${n} ${many}`);

/** Messages where the schema has none of its own. For unknown keys it is the list of the known ones, which the issue itself does not carry. */
function expectation(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `expected ${orList(issue.values.map((value) => quoteValue(String(value))))}`;
    case 'too_small':
      if (issue.origin === 'array') return `expected at least ${count(issue.minimum, 'item', 'items')}`;
      if (issue.origin === 'string') return 'expected text that is not empty';
      return `expected ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'array') return `expected at most ${count(issue.maximum, 'item', 'items')}`;
      return `expected at most ${issue.maximum}`;
    case 'unrecognized_keys': {
      const { shape } = (issue.inst as core.$ZodObject)._zod.def;
      return Object.keys(shape).join(' ');
    }
    default:
      return 'expected another value';
  }
}

/** Checks a document's value. Findings come in no particular order. */
export function checkSchema(value: unknown, written: (path: DocumentPath) => string | undefined): { input?: TemplateInput; findings: Finding[] } {
  const result = templateSchema.safeParse(value, { error: expectation });
  if (result.success) return { input: result.data, findings: [] };
  const describe = new Describer(value, written);
  return { findings: result.error.issues.flatMap((issue) => describe.issue(issue, issue.path as DocumentPath)) };
}

class Describer {
  constructor(private readonly value: unknown, private readonly written: (path: DocumentPath) => string | undefined) {}

  issue(issue: Issue, path: DocumentPath): Finding[] {
    if (issue.code === 'invalid_union') return this.union(issue, path);
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, [...path, key], issue.message.split(' ')));
    if (issue.code === 'invalid_key') return [{ path, at: 'key', message: `${issue.issues[0]?.message ?? 'expected another name'}, found ${quoteName(String(path.at(-1)))}` }];
    if (this.at(path) === undefined && path.length > 0) return [missingKey(path, issue.message)];
    return [{ path, at: 'value', message: this.found(issue, path) }];
  }

  /** The branch of a union that the written value is closest to: one that takes values of its type, else one that takes none but certain ones. */
  private union(issue: core.$ZodIssueInvalidUnion, path: DocumentPath): Finding[] {
    if ('options' in issue && issue.discriminator) return this.discriminator(issue.options ?? [], path);
    const value = this.at(path);
    const rank = (issues: Issue[]): number => {
      const own = issues.find((one) => one.path.length === 0 && one.code !== 'unrecognized_keys');
      if (!own) return 2;
      // A choice of one is told by the union's own sentence, beside what else would do.
      if (own.code === 'invalid_value') return own.values.length > 1 && typeof own.values[0] === typeof value ? 1 : 0;
      return own.code === 'invalid_type' ? 0 : 1;
    };
    const best = issue.errors.reduce<Issue[]>((chosen, issues) => (chosen.length === 0 || rank(issues) > rank(chosen) ? issues : chosen), []);
    if (best.length > 0 && rank(best) > 0) return best.flatMap((one) => this.issue(one, [...path, ...(one.path as DocumentPath)]));
    return [value === undefined ? missingKey(path, issue.message) : { path, at: 'value', message: this.found(issue, path) }];
  }

  private discriminator(options: readonly unknown[], path: DocumentPath): Finding[] {
    const known = options.map(String);
    const type = this.at(path);
    const expected = `expected ${orList(known.map(quoteValue))}`;
    if (type === undefined) return [missingKey(path, expected)];
    if (typeof type !== 'string') return [{ path, at: 'value', message: `${expected}, found ${this.quote(path)}` }];
    const meant = nearest(type, known);
    const kind = path.at(-1) === 'name' ? 'policy' : 'reward type';
    return [{ path, at: 'value', message: `unknown ${kind} ${quoteName(type)}: ${meant ? `did you mean ${quoteName(meant)}?` : expected}` }];
  }

  private found(issue: Issue, path: DocumentPath): string {
    const value = this.at(path);
    // Where a secret is named, what is written by mistake may be its value, which belongs in no message.
    if (path.at(-1) === 'api_key' || (path[0] === 'secrets' && path.length > 1)) return `${issue.message}, found something else`;
    const message = `${issue.message}, found ${this.quote(path)}`;
    const meant = issue.code === 'invalid_value' && typeof value === 'string' ? nearest(value, issue.values.map(String)) : undefined;
    return meant ? `${message}: did you mean ${quoteValue(meant)}?` : message;
  }

  /** What is written at a path, as a sentence ends with it. */
  private quote(path: DocumentPath): string {
    const value = this.at(path);
    const written = this.written(path);
    const short = written && !written.includes('\n') && !/^[*&|>]/.test(written) ? quoteValue(written) : undefined;
    if (typeof value === 'string') return short ?? quoteValue(value);
    if (Array.isArray(value)) return short ?? `a list of ${value.length}`;
    if (value !== null && typeof value === 'object') return short ?? `a map with the key ${quoteName(Object.keys(value)[0] ?? '')}`;
    return short ?? (value === null ? 'nothing' : quoteValue(JSON.stringify(value)));
  }

  private at(path: DocumentPath): unknown {
    return path.reduce<unknown>((value, part) => (value !== null && typeof value === 'object' && Object.hasOwn(value, part) ? (value as Record<string | number, unknown>)[part] : undefined), this.value);
  }
}

function missingKey(path: DocumentPath, expected: string): Finding {
  const key = formatPath(path);
  return { path: path.slice(0, -1), at: 'key', message: `missing key ${quoteName(key)}: ${expected}`, lacks: [key] };
}

function unknownKey(key: string, path: DocumentPath, known: readonly string[]): Finding {
  const meant = nearest(key, known);
  const hint = meant ? `did you mean ${quoteName(meant)}?` : `expected ${orList(known.map((name) => safe(name)))}`;
  return { path, at: 'key', message: `unknown key ${quoteName(key)}: ${hint}`, meant: meant && formatPath([...path.slice(0, -1), meant]) };
}
