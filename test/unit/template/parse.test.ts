import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseTemplate } from '../../../src/template/parse.js';
import type { Template } from '../../../src/template/template.js';

const GOOD = path.resolve('test/fixtures/templates/good');

function parsed(name: string): Template {
  const file = path.join(GOOD, name);
  const result = parseTemplate(readFileSync(file, 'utf8'), file);
  assert.deepEqual(result.problems, []);
  return result.template!;
}
const parse = (text: string) => parseTemplate(text, '/envs/a.rlenv.yaml');
const messages = (text: string) => parse(text).problems.map((problem) => problem.message);

describe('parseTemplate', () => {
  it('writes short forms out, fills defaults in and makes paths absolute', () => {
    const full = parsed('full.rlenv.yaml');
    assert.equal(full.directory, GOOD);
    assert.deepEqual(full.base, { dockerfile: { file: path.join(GOOD, 'image/Dockerfile'), context: path.join(GOOD, 'image') } });
    assert.deepEqual(full.resources, { cpu: 0.5, memory: 1.5 * 2 ** 30, pids: 100, disk: 1e8, gpu: { count: 1, model: 'A100' } });
    assert.deepEqual(full.secrets, { TOKEN: 'MY_TOKEN' });
    assert.deepEqual(full.network, { setup: 'none', episode: 'none' });
    assert.deepEqual(full.setup, [{ run: 'make' }, { python: 'print(1)', timeout: 600_000 }]);
    assert.equal(full.episode.timeoutMs, 1500);
    assert.deepEqual(full.episode.seeds, { first: 10, last: 19 });
    assert.deepEqual(full.rewardRange, [-1, 1]);
    assert.equal(full.keepWarmMs, -1);
    const [stdout, diff, judge] = full.reward;
    assert.deepEqual(stdout, { type: 'stdout', weight: 1, timeout: 60_000 });
    assert.ok(diff?.type === 'diff' && diff.expected === path.join(GOOD, 'data/a.txt') && diff.timeout === 120_000);
    assert.ok(judge?.type === 'sandbox' && judge.image === path.join(GOOD, 'rootfs'));
    assert.deepEqual(judge.resources, { gpu: { count: 1, model: 'H100' } });
  });

  it('keeps the values of variables as they are written', () => {
    const full = parsed('full.rlenv.yaml');
    assert.deepEqual(full.env, { PORT: '8080', RATIO: '1.10', DEBUG: 'true', HEX: '0x1F', TEXT: 'a b', EMPTY: '' });
    const [, , judge] = full.reward;
    assert.ok(judge?.type === 'sandbox');
    assert.deepEqual(judge.env, { N: '1e3' });
  });

  it('puts what `to` ends with a slash into that folder', () => {
    assert.deepEqual(
      parsed('full.rlenv.yaml').files.map((file) => file.to),
      ['/work/data/data', '/work/b.txt', '/work/all'],
    );
  });

  it('has defaults for all but the name and the episode', () => {
    const short = parsed('short.rlenv.json');
    assert.deepEqual(short.episode, { run: 'echo 1', python: undefined, timeoutMs: 60_000, seeds: { first: 0, last: 0 }, samples: 1 });
    assert.deepEqual(short.reward, [{ type: 'stdout', weight: 1, timeout: 60_000 }]);
    assert.deepEqual(short.network, { setup: 'full', episode: 'none' });
    assert.deepEqual(short.base, {});
  });

  it('follows aliases', () => {
    const { setup, reward, secrets } = parsed('aliases.rlenv.yaml');
    assert.deepEqual(setup, [{ run: 'echo hi' }, { run: 'echo hi' }]);
    assert.equal('run' in reward[0]! && reward[0].run, 'echo 1');
    assert.deepEqual(secrets, { A: 'A', B: 'B' });
  });

  it('reads every way to ask for GPUs', () => {
    const gpu = (written: string) => parse(`name: a\nepisode: {run: x}\nresources: {gpu: ${written}}`).template?.resources.gpu;
    assert.equal(gpu('0'), undefined);
    assert.deepEqual(gpu('2'), { count: 2 });
    assert.deepEqual(gpu('all'), { count: 'all' });
    assert.deepEqual(gpu('A10G'), { count: 1, model: 'A10G' });
    assert.deepEqual(gpu('{count: all, model: H100}'), { count: 'all', model: 'H100' });
  });

  it('does not count a byte order mark as a column', () => {
    const [problem] = parse('\ufeffnmae: a\nepisode: {run: x}').problems;
    assert.equal(`${problem?.line}:${problem?.column}-${problem?.endColumn}`, '1:1-5');
  });

  it('counts lines that end in CR LF once, and columns in UTF-16 units', () => {
    const [problem] = parse('name: a\r\nepisode: {run: "\u{1f600}", seeds: x}\r\n').problems;
    assert.equal(`${problem?.line}:${problem?.column}-${problem?.endColumn}`, '2:29-30');
  });

  it('locates values, keys and what is not there', () => {
    const { locate } = parse('name: a\nepisode:\n  run: x\nreward:\n  - type: stdout\n    weight: 2\n');
    const at = (...args: Parameters<typeof locate>) => {
      const { line, column, endLine, endColumn } = locate(...args);
      return `${line}:${column}-${endLine}:${endColumn}`;
    };
    assert.equal(at('reward[0].weight'), '6:13-6:14');
    assert.equal(at('reward[0].weight', 'key'), '6:5-6:11');
    assert.equal(at('reward[0].timeout'), '5:5-5:17');
    assert.equal(at('episode.seeds'), '2:1-2:8');
    assert.equal(at('reward[7].x'), '4:1-4:7');
    assert.equal(at('network.setup'), '1:1-1:8');
    assert.equal(at(''), '1:1-1:8');
  });

  it('knows the name of a template that has errors', () => {
    const { name, template } = parse('name: a\nepisode: {}');
    assert.equal(name, 'a');
    assert.equal(template, undefined);
  });

  it('refuses a text of more than 1 MiB before it reads it', () => {
    assert.deepEqual(messages('#'.repeat(50 * 2 ** 20)), ['the file is 50.0 MiB: expected a template of at most 1 MiB (data can be copied in with `files`)']);
  });

  it('says every problem at once, in the order of the text', () => {
    const { problems } = parse('nmae: a\nimage: "two words"\nepisode: {timeout: 5}\nreward: {type: jnuit}\n');
    assert.deepEqual(
      problems.map((problem) => problem.line),
      [1, 2, 3, 3, 4],
    );
  });

  it('never changes a prototype', () => {
    parse('__proto__: {polluted: 1}\nenv: {__proto__: {polluted: 1}, constructor: x}\nname: a\nepisode: {run: x}');
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    assert.deepEqual(parse('name: a\nenv: {constructor: x, toString: y}\nepisode: {run: x}').template?.env, { constructor: 'x', toString: 'y' });
  });
});
