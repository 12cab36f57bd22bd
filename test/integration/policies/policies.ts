/** What every policy does, on whichever provider. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Suite } from 'mocha';
import type { ModelEvent, TraceEvent } from '../../../src/trace/events.js';
import { ModelServer, type Decision, type Request } from '../../support/modelServer.js';
import { stepsOf, type Place } from './place.js';
import { REPAIR, repairer } from './repair.js';

/** `open` may skip. */
export function policies(title: string, open: (suite: Mocha.Context) => Promise<Place>): Suite {
  return describe(title, function () {
    this.timeout(120_000);
    let place: Place;
    before(async function () {
      this.timeout(600_000);
      place = await open(this);
    });
    after(() => place?.close());

    /** A slow machine has lines for the beginning of steps, too. */
    const types = (events: readonly TraceEvent[]) => events.map(({ type }) => type).filter((type) => type !== 'begin');

    describe('script, oracle, noop', () => {
      const TEMPLATE = `
setup: [{ run: mkdir -p /work }]
episode: { run: 'echo out; echo err >&2; echo $RL_SEED > /work/answer', seeds: 2 }
solution: { python: "open('/work/answer', 'w').write('100')" }
reward: { type: exit_code, run: 'test "$(cat /work/answer)" = 100' }`;

      it('script: its output is the one step, and the verifier has the last word', async () => {
        const { records, traces } = await place.play(await place.template('one-step', TEMPLATE));
        assert.deepEqual(records.map(({ steps, status, reward }) => [steps, status, reward]), [[1, 'completed', 0], [1, 'completed', 0]]);
        const events = traces.get(1)!;
        assert.deepEqual(types(events), ['start', 'step', 'reward', 'end']);
        const [step] = stepsOf(events);
        assert.deepEqual(step!.observation, { kind: 'command', stdout: 'out\n', stderr: 'err\n', exitCode: 0 });
        assert.deepEqual(step!.action, { kind: 'command', command: 'echo out; echo err >&2; echo $RL_SEED > /work/answer', language: 'sh' });
        assert.deepEqual([step!.terminated, step!.truncated], [true, false]);
      });

      it('oracle: the reference solution gets the reward', async () => {
        const { records, run } = await place.play(await place.template('one-step', TEMPLATE), { policy: 'oracle' });
        assert.equal(run.policy, 'oracle');
        assert.deepEqual(records.map(({ reward }) => reward), [1, 1]);
      });

      it('noop: nothing is done, and it is scored', async () => {
        const { records, traces } = await place.play(await place.template('one-step', TEMPLATE), { policy: 'noop' });
        assert.deepEqual(records.map(({ reward, steps }) => [reward, steps]), [[0, 1], [0, 1]]);
        assert.deepEqual(stepsOf(traces.get(0)!)[0]!.action, { kind: 'none' });
      });

      it('an episode that runs too long is truncated: what it printed until then is there', async () => {
        const file = await place.template('long', "episode: { run: 'echo begun; sleep 60', timeout: 3s }\nreward: { type: exit_code, run: 'true' }");
        const { records, traces } = await place.play(file);
        assert.deepEqual(records.map(({ status, cause, steps }) => [status, cause, steps]), [['truncated', 'timeout: the episode ran longer than 3 s', 1]]);
        const [step] = stepsOf(traces.get(0)!);
        assert.ok(step!.observation.kind === 'command' && step!.observation.stdout === 'begun\n' && step!.observation.exitCode === undefined);
        assert.deepEqual([step!.truncated, step!.terminated, step!.error], [true, false, 'timeout']);
        assert.deepEqual(traces.get(0)!.at(-1), { ...traces.get(0)!.at(-1), type: 'end', status: 'truncated', steps: 1, reward: 1 });
      });

      it('says what a policy lacks before anything is made', async () => {
        const file = await place.template('bare', 'episode: { run: echo 1 }');
        await assert.rejects(place.play(file, { policy: 'oracle' }), /no reference solution/);
        await assert.rejects(place.play(file, { policy: 'llm' }), /no settings for the policy `llm`|no task/);
        await assert.rejects(place.play(file, { policy: 'orcale' }), /there is no policy "orcale": there are script, oracle/);
      });
    });

    describe('replay', () => {
      const TEMPLATE = `
setup: [{ run: "mkdir -p /work; printf '#!/bin/sh\\necho $RL_SEED' > /work/tell; chmod +x /work/tell" }]
episode: { run: '/work/tell; cat /proc/uptime > /work/answer', seeds: 2 }
reward: { type: exit_code, run: 'test -s /work/answer' }`;

      it('takes the actions again: the same comes of them', async () => {
        const { run } = await place.play(await place.template('again', TEMPLATE));
        const live = await place.engine.replay(run.id);
        const { records, traces } = await place.ended(await live.ended);
        assert.deepEqual(records.map(({ status, cause, reward, seed }) => [status, cause, reward, seed]), [['completed', undefined, 1, 0], ['completed', undefined, 1, 1]]);
        assert.deepEqual(stepsOf(traces.get(1)!).map(({ observation }) => observation), [{ kind: 'command', stdout: '1\n', exitCode: 0 }]);
        const one = await place.engine.replay(run.id, 1);
        assert.deepEqual((await place.ended(await one.ended)).records.map(({ episode }) => episode), [1]);
      });

      it('says at which step something else came of them first', async () => {
        const { run } = await place.play(await place.template('again', TEMPLATE));
        await place.template('again', TEMPLATE.replace('echo $RL_SEED', 'echo no'));
        const { records, traces } = await place.ended(await (await place.engine.replay(run.id)).ended);
        assert.deepEqual(records.map(({ status, cause, reward }) => [status, cause, reward]), [
          ['completed', 'difference: at step 1 standard output is "no\\n", and was "0\\n"', 1],
          ['completed', 'difference: at step 1 standard output is "no\\n", and was "1\\n"', 1],
        ]);
        assert.ok(traces.get(0)!.some((event) => event.type === 'note' && event.what === 'difference' && event.step === 1));
      });

      it('a trace that is not there, or is none, is no reward', async () => {
        const file = await place.template('again', TEMPLATE);
        await assert.rejects(place.play(file, { policy: 'replay' }), /needs a trace/);
        await assert.rejects(place.play(file, { policy: 'replay', trace: join(place.folder, 'none.jsonl') }), /there is no trace/);
        const { records } = await place.play(file, { policy: 'replay', trace: file, seeds: '1' });
        assert.deepEqual([records[0]!.status, records[0]!.reward], ['error', null]);
        assert.match(records[0]!.cause!, /^PolicyFailed: \S+ is no native trace/);
      });
    });

    describe('command', () => {
      /** A program that looks for a number between 0 and 100, told only `low` or `high`. */
      const SEARCH = `
import { createInterface } from 'node:readline';
const ranges = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const { type, episode, seed, task, observation } = JSON.parse(line);
  if (type === 'end') { ranges.delete(episode); continue; }
  if (type === 'reset') ranges.set(episode, [0, 100, task]);
  const range = ranges.get(episode);
  const middle = () => (range[0] + range[1]) >> 1;
  if (observation?.stdout === 'low\\n') range[0] = middle() + 1;
  if (observation?.stdout === 'high\\n') range[1] = middle() - 1;
  console.log(JSON.stringify(observation?.exit_code === 0 && observation.stdout === 'yes\\n' ? { episode, done: true } : { episode, action: 'sh /opt/guess ' + middle() }));
}`;
      const GUESS = `
setup: [{ run: "mkdir -p /opt; printf 'n=$(( (RL_SEED * 37 + 11) %% 101 )); echo $1 > /guess; if [ $1 -lt $n ]; then echo low; elif [ $1 -gt $n ]; then echo high; else echo yes; fi' > /opt/guess" }]
task: Find the number.
episode: { timeout: 60s }
reward: { type: exit_code, run: 'test "$(cat /guess)" = $(( (RL_SEED * 37 + 11) % 101 ))' }`;
      const program = async (text: string, more = '') => {
        await writeFile(join(place.folder, 'program.mjs'), text);
        return place.template('guess', `${GUESS}\npolicy: { name: command, command: ['${process.execPath}', program.mjs]${more} }`);
      };

      for (const per of ['run', 'episode'])
        it(`one process for each ${per}: it is told what was printed, and answers with the next command`, async () => {
          const { records, traces } = await place.play(await program(SEARCH, `, per: ${per}`), { seeds: '6' });
          assert.deepEqual(records.map(({ status, reward }) => [status, reward]), Array.from({ length: 6 }, () => ['completed', 1]), JSON.stringify(records[0]));
          const steps = stepsOf(traces.get(0)!);
          assert.deepEqual(steps[0]!.action, { kind: 'command', command: 'sh /opt/guess 50', language: 'sh' });
          assert.deepEqual(steps[0]!.observation, { kind: 'command', stdout: 'high\n', exitCode: 0 });
          assert.equal(records[0]!.steps, steps.length);
        });

      it('one that dies, hangs or writes nonsense is no reward; the run goes on, and nothing of it is left', async () => {
        // Who hangs is waited for; who does not has the time that a program needs to start on a busy machine.
        const cases: readonly (readonly [string, RegExp, string?])[] = [
          ["console.error('out of luck'); process.exit(3)", /^PolicyFailed: the policy \S+ ended with exit code 3; its last line is "out of luck"/],
          ['setInterval(() => {}, 1000)', /^PolicyFailed: the policy \S+ did not answer within 1 s/, '1s'],
          ["console.log('hello')", /^PolicyFailed: the policy \S+ wrote what is not JSON: "hello"/],
          ["process.stdin.on('data', () => console.log(JSON.stringify({ action: 7 })))", /^PolicyFailed: the policy wrote the action 7: expected a command/],
          ["console.log('[1]')", /^PolicyFailed: the policy \S+ wrote "\[1\]": expected \{"action"/],
        ];
        for (const [text, cause, timeout = '30s'] of cases)
          for (const per of ['run', 'episode']) {
            const { records, run } = await place.play(await program(text, `, per: ${per}, timeout: ${timeout}`), { seeds: '2', concurrency: 1 });
            assert.equal(run.state, 'done');
            for (const record of records) {
              assert.deepEqual([record.status, record.reward, record.attempts], ['error', null, 1]);
              assert.match(record.cause!, cause);
            }
          }
        await assert.rejects(promisify(execFile)('pgrep', ['-f', join(place.folder, 'program.mjs')]), 'none is left');
        const { records } = await place.play(await place.template('guess', `${GUESS}\npolicy: { name: command, command: [no-such-program] }`));
        assert.match(records[0]!.cause!, /^PolicyFailed: cannot start no-such-program: /);
      });

      it('has a limit of steps, and one of time for each command', async () => {
        const { records, traces } = await place.play(await program("process.stdin.on('data', () => console.log(JSON.stringify({ action: { run: 'echo x; sleep 20' } })))", ', max_steps: 2, command_timeout: 500ms'));
        assert.deepEqual(records.map(({ status, cause, steps, reward }) => [status, cause, steps, reward]), [['truncated', 'max_steps: the episode took 2 steps and did not end', 2, 0]]);
        assert.match(stepsOf(traces.get(0)!)[0]!.error!, /did not end within 0.5 s/);
      });
    });

    describe('llm', () => {
      let server: ModelServer;
      let url: string;
      let decide: (request: Request) => Decision;
      beforeEach(async () => {
        decide = repairer;
        server = new ModelServer((request) => decide(request));
        url = await server.start();
        process.env.RL_TEST_MODEL_KEY = 'sk-never-in-a-trace';
      });
      afterEach(async () => {
        await server.stop();
        delete process.env.RL_TEST_MODEL_KEY;
      });

      it('what it did can be replayed without it', async () => {
        const { run, traces } = await place.play(await agent(), { seeds: '2' });
        const asked = server.requests.length;
        const again = await place.ended(await (await place.engine.replay(run.id)).ended);
        assert.equal(server.requests.length, asked);
        assert.deepEqual(again.records.map(({ reward, cause, steps }) => [reward, cause, steps]), [[1, undefined, 4], [1, undefined, 4]]);
        assert.deepEqual(stepsOf(again.traces.get(1)!).map(({ action }) => action), stepsOf(traces.get(1)!).map(({ action }) => action));
      });

      const agent = (more = '') => place.template('repair', `${REPAIR}\npolicy: { name: llm, base_url: '${url}', model: rules, api_key: '\${env:RL_TEST_MODEL_KEY}', parameters: { temperature: 0.5 }, price: { prompt: 2, completion: 10 }${more} }`);

      for (const stream of [true, false])
        it(`reads the failing tests, edits, and solves each seed${stream ? '' : ', unstreamed'}`, async () => {
          const { records, traces, folder } = await place.play(await agent(`, stream: ${stream}`), { seeds: '3' });
          assert.deepEqual(records.map(({ reward, status, steps }) => [reward, status, steps]), [[1, 'completed', 4], [1, 'completed', 4], [1, 'completed', 4]]);
          const events = traces.get(1)!;
          assert.deepEqual(types(events), ['start', 'message', 'message', 'model', 'step', 'model', 'step', 'model', 'step', 'model', 'step', 'reward', 'end']);
          const steps = stepsOf(events);
          assert.match(JSON.stringify(steps[1]!.action), /edit.*a \* b/);
          assert.deepEqual(steps[1]!.files!.map(({ path, change, added, removed }) => [path, change, added, removed]), [['/work/calc.py', 'modified', 1, 1]]);
          assert.match(steps[1]!.files![0]!.diff!, /^-    return a - b\n\+    return a \* b$/m);
          assert.ok(steps.every(({ cost, tokens }) => cost! > 0 && tokens!.prompt! > 0));
          const models = events.filter((event) => event.type === 'model');
          assert.deepEqual(models.map(({ context, step }) => [context, step]), [[[[0, 2]], 1], [[[0, 4]], 2], [[[0, 6]], 3], [[[0, 8]], 4]]);
          assert.deepEqual(models[0]!.parameters, { temperature: 0.5 });
          assert.equal(server.requests[0]!.temperature, 0.5);
          assert.deepEqual(new Set(server.keys), new Set(['sk-never-in-a-trace']));
          assert.doesNotMatch(await readFile(join(folder(1), 'trace.jsonl'), 'utf8'), /never-in-a-trace/);
        });

      it('asks again where the endpoint is busy, broken or cut off, and counts no step for it', async () => {
        server.faults.push({ status: 429, retryAfter: 0 }, { status: 503 }, 'reset', undefined, 'reset-midstream');
        const { records, traces } = await place.play(await agent());
        assert.deepEqual(records.map(({ reward, steps, attempts }) => [reward, steps, attempts]), [[1, 4, 1]]);
        const models = traces.get(0)!.filter((event): event is ModelEvent => event.type === 'model');
        assert.deepEqual(models.map(({ step, attempt, error }) => [step, attempt, error === undefined]), [[1, 1, false], [1, 2, false], [1, 3, false], [1, 4, true], [2, 1, false], [2, 2, true], [3, 1, true], [4, 1, true]]);
      });

      it('an endpoint that stays broken is the fault of the machinery, never a reward', async () => {
        server.faults.push(...Array.from({ length: 6 }, () => ({ status: 500, retryAfter: 0 })));
        const { records, traces } = await place.play(await agent());
        assert.deepEqual(records.map(({ status, reward, attempts }) => [status, reward, attempts]), [['error', null, 1]]);
        assert.match(records[0]!.cause!, /^ModelUnavailable: the model at http\S+ did not answer 6 times: 500/);
        assert.equal(traces.get(0)!.at(-1)!.type, 'end');
      });

      it('one that refuses the key stops the run', async () => {
        server.faults.push({ status: 401, body: { error: { message: 'wrong key sk-never-in-a-trace' } } });
        const { run } = await place.play(await agent(), { seeds: '1' }).catch(async () => ({ run: (await place.engine.list())[0]!.run }));
        assert.equal(run.state, 'failed');
        assert.match(run.error!, /refuses: 401 wrong key \*\*\*/);
      });

      it('time that the endpoint wastes is not the episode’s', async () => {
        server.faults.push({ status: 429, retryAfter: 3600 });
        const { records } = await place.play(await agent(), { timeoutMs: 2000 });
        assert.deepEqual(records.map(({ status, reward }) => [status, reward]), [['error', null]]);
        assert.match(records[0]!.cause!, /^ModelUnavailable: .* before the episode's time was up/);
      });

      it('a reply that does not come is asked for again', async () => {
        server.faults.push('hang', 'nonsense');
        const { records, traces } = await place.play(await agent(', request_timeout: 1s, stream: false'));
        assert.deepEqual(records.map(({ reward }) => reward), [1]);
        assert.match(traces.get(0)!.find((event): event is ModelEvent => event.type === 'model')!.error!, /no reply within 1 s/);
      });

      it('what is wrong with a call is told to the model', async () => {
        const answers: Decision[] = [
          { calls: [['bash', '{"command": "ls'], ['no_such_tool', {}], ['bash', { comand: 'ls' }], ['read', { path: '/no/such' }], ['edit', { path: '/work/calc.py', old: 'zzz', new: '' }]] },
          { calls: [['bash', { command: 'sleep 30', timeout: 0.5 }], ['bash', { command: 'seq 100000; exit 3' }]] },
          { calls: [['read', { path: '/work/calc.py', offset: 2, limit: 1 }], ['write', { path: '/work/a/b.txt', content: 'x\n' }], ['python', { code: 'print(6 * 7)' }]] },
          { text: 'I am done.' },
          { text: 'Really.' },
        ];
        decide = ({ messages }) => answers[messages.filter(({ role }) => role === 'assistant').length]!;
        const { records, traces } = await place.play(await agent());
        assert.deepEqual(records.map(({ status, reward, steps }) => [status, reward, steps]), [['completed', 0, 5]]);
        const told = server.requests.at(-1)!.messages.filter(({ role }) => role === 'tool').map(({ content }) => content!);
        assert.match(told[0]!, /the arguments of bash are not JSON/);
        assert.match(told[1]!, /there is no tool "no_such_tool": there are bash, python/);
        assert.match(told[2]!, /the arguments of bash are wrong: .*command/);
        assert.match(told[3]!, /\/no\/such[^]*\[exit code 1\]/);
        assert.match(told[4]!, /does not occur in \/work\/calc.py/);
        assert.match(told[5]!, /did not end within 0.5 s and was killed/);
        assert.match(told[6]!, /^1\n2\n[^]*\n\[\.\.\. \d+ bytes left out \.\.\.\]\n[^]*\n100000\n\[exit code 3\]$/);
        assert.ok(told[6]!.length < 17_000);
        assert.deepEqual(told.slice(7), ['    return a - b\n', 'Wrote /work/a/b.txt.', '42\n']);
        // Arguments that are no JSON do not come back to a server that may choke on them.
        assert.deepEqual(server.requests.at(-1)!.messages.find(({ role }) => role === 'assistant')!.tool_calls![0]!.function.arguments, '{}');
        const results = stepsOf(traces.get(0)!)[1]!.observation;
        assert.ok(results.kind === 'results' && results.results[1]!.dropped! > 500_000 && results.results[1]!.exitCode === 3);
      });

      it('each budget ends the episode, which is scored from what it left', async () => {
        decide = () => ({ text: 'hm', calls: [['bash', { command: 'true' }]] });
        for (const [limit, cause] of [['max_turns: 3', /^max_turns: the episode took 3 turns/], ['max_tokens: 100', /^max_tokens: /], ['max_cost: 0.0003', /^max_cost: the episode cost \$/]] as const) {
          const { records } = await place.play(await agent(`, ${limit}`));
          assert.deepEqual(records.map(({ status, reward }) => [status, reward]), [['truncated', 0]], limit);
          assert.match(records[0]!.cause!, cause);
        }
      });

      it('makes room in a full context by giving up the oldest results, and says so', async () => {
        server.contextCharacters = 9000;
        decide = ({ messages }) => (messages.filter(({ role }) => role === 'assistant').length < 6 ? { calls: [['bash', { command: 'head -c 3000 /dev/zero | tr "\\\\0" x' }]] } : { calls: [['submit', {}]] });
        const { records, traces } = await place.play(await agent());
        assert.deepEqual(records.map(({ status, steps }) => [status, steps]), [['completed', 7]]);
        const events = traces.get(0)!;
        assert.ok(events.some((event) => event.type === 'note' && event.what === 'context'));
        const last = events.findLast((event): event is ModelEvent => event.type === 'model')!;
        assert.ok(last.elided!.length > 0);
        const markers = server.requests.at(-1)!.messages.flatMap(({ content }, index) => (content?.startsWith('[The output of this call was removed') ? [index] : []));
        assert.deepEqual(last.elided!.flatMap(([from, to]) => Array.from({ length: to - from }, (_, index) => from + index)), markers);
        server.contextCharacters = 100;
        assert.match((await place.play(await agent())).records[0]!.cause!, /^context: the episode filled the context/);
      });

      it('reports a model that runs on in a sandbox that is cancelled', async () => {
        server.faults.push(undefined, 'hang');
        const live = await place.engine.start(await agent(), {});
        while (server.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
        await live.cancel();
        assert.equal(live.record.state, 'cancelled');
        const text = await readFile(join(place.engine.layout.episode(live.record.id, 0), 'trace.jsonl'), 'utf8');
        assert.match(text.trimEnd().split('\n').at(-1)!, /"type":"end".*"status":"cancelled"/);
      });
    });
  });
}
