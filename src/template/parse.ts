/** A template file's text to a template, or to all that is wrong with it. Pure: the editor runs it as one types. */
import path from 'node:path';
import { assemble } from './assemble.js';
import { YamlDocument, type Position } from './document.js';
import { checkSchema } from './issues.js';
import { hostReferences, type HostReference } from './references.js';
import { checkRules } from './rules.js';
import type { Problem, Template } from './template.js';
import { formatPath } from './text.js';

export type { Position } from './document.js';
export type { HostReference } from './references.js';

/** 1 MiB of text; a template is a page, and data belongs under `files`. */
export const MAX_TEMPLATE_BYTES = 2 ** 20;
/** A person fixes the first few; an editor drowns in a hundred thousand. */
const MAX_PROBLEMS = 200;

export interface ParsedTemplate {
  /** Absolute path. */
  readonly file: string;
  /** Present if there are no errors. */
  readonly template?: Template;
  /** The name as written, also where something else is wrong. */
  readonly name?: string;
  /** The provider as written, also where something else is wrong. */
  readonly provider?: string;
  /** In the order of the text. */
  readonly problems: readonly Problem[];
  readonly references: readonly HostReference[];
  /** Place of a value such as `reward[1].weight`, or of its key; of the nearest thing around it if it is not written. */
  readonly locate: (path: string, at?: 'key' | 'value') => Position;
  /** Whether a path is written; what has a default may not be. */
  readonly has: (path: string) => boolean;
}

/** Never throws: whatever the text is, the answer is a list of problems. */
export function parseTemplate(text: string, file: string): ParsedTemplate {
  const absolute = path.resolve(file);
  if (text.length > MAX_TEMPLATE_BYTES) return refusedTemplate(absolute, tooLarge(text.length));
  const document = new YamlDocument(text.replace(/^\ufeff/, ''));
  const { value } = document;
  const problem = (position: Position, message: string, where = ''): Problem => ({ file: absolute, ...position, severity: 'error', message, path: where });
  const problems = document.findings.map(({ start, end, message }) => problem(document.position(start, end), message));
  const written = document.written.bind(document);
  const base = { file: absolute, locate: document.locate.bind(document), has: document.has.bind(document) };
  if (!document.complete) return { ...base, problems: listed(problems), references: [] };
  if (value === null) return { ...base, problems: listed([...problems, problem(document.position(0, 0), 'the file is empty: expected a template with the keys "name" and "episode"')]), references: [] };

  const { input, findings } = checkSchema(value, written);
  const all = [...findings, ...checkRules(value)];
  const meant = new Set(all.flatMap((finding) => finding.meant ?? []));
  for (const { path: at, at: part, message, lacks } of all) {
    if (lacks?.some((key) => meant.has(key))) continue;
    const where = formatPath(at);
    problems.push(problem(document.locate(where, part), message, where));
  }
  const { name, provider } = value as { name?: unknown; provider?: unknown };
  return {
    ...base,
    template: input && problems.length === 0 ? assemble(input, absolute, written) : undefined,
    name: typeof name === 'string' ? name : undefined,
    provider: typeof provider === 'string' ? provider : undefined,
    problems: listed(problems),
    references: hostReferences(value, path.dirname(absolute)),
  };
}

/** What a file gets that is refused before it is read as YAML: one sentence, at its first character. */
export function refusedTemplate(file: string, message: string): ParsedTemplate {
  const position = { line: 1, column: 1, endLine: 1, endColumn: 1 };
  return { file, problems: [{ file, ...position, severity: 'error', message, path: '' }], references: [], locate: () => position, has: () => false };
}

export const tooLarge = (size: number): string => `the file is ${(size / 2 ** 20).toFixed(1)} MiB: expected a template of at most 1 MiB (data can be copied in with \`files\`)`;

/** In the order of the text, each once, and cut where nobody reads on. */
function listed(problems: readonly Problem[]): Problem[] {
  const sorted = [...problems].sort((a, b) => a.line - b.line || a.column - b.column || (a.message < b.message ? -1 : 1));
  const unique = sorted.filter((one, index) => index === 0 || one.message !== sorted[index - 1]!.message || one.line !== sorted[index - 1]!.line || one.column !== sorted[index - 1]!.column);
  const [next] = unique.slice(MAX_PROBLEMS);
  if (!next) return unique;
  return [...unique.slice(0, MAX_PROBLEMS), { ...next, path: '', message: `${unique.length - MAX_PROBLEMS} more problems are not listed` }];
}
