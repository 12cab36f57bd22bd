import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { start, step, end, lines, AT } from '../support/traces/native.js';
import { evalFile } from '../support/traces/inspect.js';
import { Workspace } from './support.js';

/** What a terminal would act on: escapes other than colours, other control characters, marks that turn text round. */
 
const DANGEROUS = /\u001b(?!\[[\d;:]*m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const EVIL = '\u001b]0;title\u0007\u001b[2J\u001b[31mred\u001b[0m\u009b2J\u202ekcab\r\u0000\u001b]8;;file:///etc/passwd\u0007link\u001b]8;;\u0007';

describe('trace from a terminal', () => {
  let workspace: Workspace;
  before(async () => {
    workspace = await Workspace.make();
    await writeFile(
      workspace.path('trace.jsonl'),
      lines([
        start({ template: EVIL, policy: { name: EVIL, model: 'tiny' } }),
        { type: 'message', at: AT, role: 'user', content: EVIL },
        step(1, { action: { kind: 'calls', text: EVIL, calls: [{ id: 'a', name: EVIL, arguments: { [EVIL]: EVIL } }] }, observation: { kind: 'results', results: [{ call: 'a', ms: 1, stdout: EVIL, error: EVIL }] }, error: EVIL, files: [{ path: EVIL, change: 'added', diff: EVIL }], info: { [EVIL]: EVIL }, reward: null }),
        step(2, { action: { kind: 'command', command: EVIL, language: 'sh' }, observation: { kind: 'command', stdout: EVIL, exitCode: 3 }, reward: 0.125, terminated: true }),
        { type: 'reward', at: AT, ms: 1, reward: 0.125, components: [{ name: EVIL, weight: 1, value: 0.125, detail: EVIL }], output: EVIL },
        { type: 'network', at: AT, host: EVIL, port: 443, refused: EVIL },
        end(2, 0.125),
      ]) + EVIL,
    );
    await writeFile(workspace.path('log.eval'), evalFile());
    await mkdir(workspace.path('pair'));
  });
  after(() => workspace.remove());

  it('tells what a trace is, how it ended and what could not be read, then its steps', async () => {
    const { code, stdout } = await workspace.run('trace', 'log.eval', '--member', '1');
    assert.equal(code, 0);
    for (const line of [/^format +inspect 2$/m, /^title +count · sample 2 · epoch 1$/m, /^agent +model open\/tiny$/m, /^tokens +10 prompt, 4 completion$/m, /^cost +\$0\.50$/m, /^reward +0\.5$/m, /^ended +completed$/m, /^ +check {2}0\.5 {2}P, answer: 41$/m, /^ {2}> 1 {2}2 · epoch 1/m, /^1 +agent +tool +2\.0 s +bash: wc -l \[took too long\]$/m]) assert.match(stdout, line);
    const damaged = await workspace.run('trace', 'trace.jsonl');
    assert.match(damaged.stdout, /^problem: line 8, the last, is torn/m);
  });

  it('prints nothing that a terminal would act on, in every form', async () => {
    for (const args of [[], ['--json'], ['--search', 'red'], ...[0, 1, 2, 3, 4].flatMap((index) => [['--step', String(index)], ['--step', String(index), '--json']])]) {
      const { code, stdout, stderr } = await workspace.run('trace', 'trace.jsonl', ...args);
      assert.equal(code, 0, stderr);
      assert.ok(stdout.includes('red'));
      assert.doesNotMatch(stdout + stderr, DANGEROUS, args.join(' '));
    }
    const { stderr } = await workspace.run('trace', EVIL.replaceAll('\u0000', ''));
    assert.doesNotMatch(stderr, DANGEROUS);
  });

  it('compares two traces by their actions, and says where they part', async () => {
    const command = (number: number, text: string, stdout = '') => step(number, { action: { kind: 'command', command: text, language: 'sh' }, observation: { kind: 'command', stdout, exitCode: 0 } });
    await writeFile(workspace.path('pair', 'one.jsonl'), lines([start(), command(1, 'ls', 'a'), command(2, 'cat a', EVIL), command(3, 'make'), command(4, 'make test'), end(4, 0)]));
    await writeFile(workspace.path('pair', 'other.jsonl'), lines([start(), command(1, 'ls', 'b'), command(2, 'cat a', EVIL), command(3, EVIL), command(4, 'make'), command(5, 'make test'), end(5, 0)]));
    const { code, stdout } = await workspace.run('trace', 'diff', 'pair/one.jsonl', 'pair/other.jsonl');
    assert.equal(code, 1);
    assert.doesNotMatch(stdout, DANGEROUS);
    for (const line of [/^different +2 of 5 rows$/m, /^first +step 1 of a, step 1 of b: observation$/m, /^first action +step — of a, step 3 of b: only b has it$/m, /^3 +4 +make$/m]) assert.match(stdout, line);
    const same = await workspace.json<{ different: number; first: number | null; list: { a: number }[] }>('trace', 'diff', 'pair/one.jsonl', 'pair/one.jsonl');
    assert.deepEqual([same.different, same.first, same.list.length], [0, null, 4]);
    assert.equal((await workspace.run('trace', 'diff', 'pair/one.jsonl', 'pair/one.jsonl')).code, 0);
    assert.equal((await workspace.run('trace', 'diff', 'pair/one.jsonl', 'gone.jsonl')).code, 1);
    assert.equal((await workspace.run('trace', 'diff', 'pair/one.jsonl')).code, 2);
  });

  it('gives the same as data', async () => {
    const head = await workspace.json<{ format: string; steps: number; reward: number; list: { title: string }[] }>('trace', 'trace.jsonl', '--steps', '1..2');
    assert.deepEqual([head.format, head.steps, head.reward, head.list.length], ['native', 5, 0.125, 2]);
    assert.equal((await workspace.json<{ error: string }>('trace', 'trace.jsonl', '--step', '2')).error, 'exit 3');
    assert.deepEqual((await workspace.json<{ hits: { step: number }[] }>('trace', 'log.eval', '--search', '41 LINES')).hits.map(({ step: index }) => index), [1]);
  });

  it('says in one sentence what cannot be opened', async () => {
    for (const [args, why] of [[['package.json'], /^error: there is no file package\.json: expected a trace, /], [['latest:3'], /there is no run "latest"/], [['pair'], /is no trace of a known format/], [['log.eval', '--member', '9'], /there is no sample 9: the file holds 3, from 0/], [['trace.jsonl', '--step', '99'], /there is no step 99: the trace has 5, from 0/]] as const) {
      const { code, stderr } = await workspace.run('trace', ...args);
      assert.equal(code, 1);
      assert.match(stderr, why);
    }
    assert.equal((await workspace.run('trace', 'trace.jsonl', '--steps', '9..1')).code, 2);
  });
});
