/** Whatever a file holds, the answer is a short list of problems inside of it, and it comes soon. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parseTemplate } from '../../../src/template/parse.js';

const SIZE = 2 ** 20 - 1000;
const HELLO = readFileSync('examples/hello.rlenv.yaml', 'utf8');

function fill(unit: string | ((index: number) => string), head = '', tail = ''): string {
  const parts = [head];
  for (let size = head.length, index = 0; ; index++) {
    const part = typeof unit === 'string' ? unit : unit(index);
    size += part.length;
    if (size + tail.length > SIZE) return parts.join('') + tail;
    parts.push(part);
  }
}

function check(text: string): void {
  const { template, problems } = parseTemplate(text, '/envs/a.rlenv.yaml');
  assert.equal(template === undefined, problems.length > 0);
  assert.ok(problems.length <= 201, `${problems.length} problems`);
  const lines = text.replace(/^\ufeff/, '').split('\n');
  for (const { line, column, endLine, endColumn, message } of problems) {
    assert.ok(line >= 1 && line <= lines.length, `line ${line} of ${lines.length}: ${message}`);
    assert.ok(column >= 1 && column <= lines[line - 1]!.length + 1, `column ${column} of line ${line}: ${message}`);
    assert.equal(endLine, line);
    assert.ok(endColumn >= column && endColumn <= lines[line - 1]!.length + 1, `end ${endColumn} of line ${line}: ${message}`);
    assert.doesNotMatch(message, /[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
    assert.ok(message.length < 1000, message);
  }
}

/** Numbers that are the same in every run: xorshift32. */
function random(seed: number): (below: number) => number {
  let x = seed * 2_654_435_761 + 1;
  return (below) => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % below;
  };
}

describe('hostile templates', () => {
  const cases: Record<string, string> = {
    'open brackets without end': fill('['),
    'open braces without end': fill('{'),
    'lists in lists': fill('- '),
    'maps in maps': Array.from({ length: 1400 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join(''),
    'a hundred thousand keys': fill((index) => `k${index}: 1\n`),
    'the same key over and over': fill('a: 1\n'),
    'a list of unknown keys': fill((index) => `  k${index}: 1\n`, 'episode:\n'),
    'an alias bomb': Array.from({ length: 40 }, (_, index) => (index ? `a${index}: &a${index} [${Array(10).fill(`*a${index - 1}`).join(', ')}]` : 'a0: &a0 [x]')).join('\n'),
    'aliases of a long list': fill('  - *long\n', `x: &long [${'"/a",'.repeat(10_000)}]\nartifacts:\n`),
    'a cycle of aliases': 'name: &a [*b]\nenv: &b [*a]\nepisode: &c {run: *c}\n',
    'control characters': fill('\u0000\u001b[31m'),
    'lone surrogates': fill('\ud800'),
    'bidirectional overrides': 'name: "\u202eolleh"\nepisode: {run: x, \u202eseeds: 1}',
    'open quotes': fill('"'),
    'directives': fill('%a\n'),
    'documents': fill('---\n'),
    'references without end': fill('${env:', 'name: a\nepisode: {run: "', '"}'),
    'a long path': `name: a\nepisode: {run: x}\nartifacts: ["/${'../'.repeat(300_000)}"]`,
    'a long number': `name: a\nresources: {memory: "${'1'.repeat(900_000)}Mi"}\nepisode: {run: x, seeds: ${'9'.repeat(1000)}..1}`,
    'a long name': `name: "${'a.'.repeat(400_000)}!"\nepisode: {run: x}`,
    'a long key': `name: a\nepisode: {run: x}\n? ${'k'.repeat(900_000)}\n: 1`,
  };
  for (const [what, text] of Object.entries(cases)) it(what, () => check(text)).timeout(30_000);

  it('500 mutations of hello', () => {
    const pieces = ['\t', '\n', ' ', ':', ': ', '- ', '[', ']', '{', '}', '"', "'", '|', '>', '&a ', '*a', '!x ', '#', '%', '\0', '\ufeff', '\ud800', '---\n', '<<: ', '__proto__', '${env:X}', '9', '-1', 'null', '~', '🙂', '\r', '? '];
    for (let seed = 1; seed <= 500; seed++) {
      const next = random(seed);
      let text = HELLO;
      for (let edits = 1 + next(6); edits > 0; edits--) {
        const at = next(text.length + 1);
        const end = Math.min(text.length, at + next(12));
        const choice = next(4);
        if (choice === 0) text = text.slice(0, at) + text.slice(end);
        else if (choice === 1) text = text.slice(0, at) + pieces[next(pieces.length)]! + text.slice(at);
        else if (choice === 2) text = text.slice(0, at) + text.slice(at, end).repeat(1 + next(4)) + text.slice(end);
        else text = text.slice(0, at) + pieces[next(pieces.length)]! + text.slice(end);
      }
      try {
        check(text);
      } catch (error) {
        throw new Error(`mutation ${seed}: ${JSON.stringify(text)}`, { cause: error });
      }
    }
  }).timeout(60_000);
});
