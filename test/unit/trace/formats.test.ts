import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TraceHead, TraceReader } from '../../../src/trace/model.js';
import { openTrace } from '../../../src/trace/open.js';

const atif = (steps: object[], more: object = {}): object => ({ schema_version: 'ATIF-v1.7', session_id: 's', agent: { name: 'a', version: '1', model_name: 'm' }, steps, ...more });
const said = (step_id: number, message: unknown, more: object = {}): object => ({ step_id, source: 'agent', message, ...more });
const called = (step_id: number, more: object = {}): object => said(step_id, '', { tool_calls: [{ tool_call_id: 'c', function_name: 'bash', arguments: { cmd: 'ls' } }], ...more });

describe('trace formats', () => {
  let folder: string;
  const opened: TraceReader[] = [];
  const put = async (name: string, content: unknown): Promise<string> => {
    const file = join(folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
    return file;
  };
  const open = async (file: string, member?: number): Promise<TraceReader> => {
    const reader = await openTrace(file, { member });
    opened.push(reader);
    await reader.settled();
    return reader;
  };
  const read = async (name: string, content: unknown, member?: number): Promise<TraceReader> => open(await put(name, content), member);
  const titles = async (reader: TraceReader): Promise<string[]> => (await reader.summaries(0, 99)).map(({ title, depth }) => `${' '.repeat(depth ?? 0)}${title}`);
  const facts = async (reader: TraceReader): Promise<unknown[]> => {
    const { format, reward, end, problems }: TraceHead = await reader.head();
    return [format, reward, end.status, problems];
  };

  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'rl-formats-'))));
  afterEach(async () => {
    for (const reader of opened.splice(0)) await reader.close();
    await rm(folder, { recursive: true, force: true });
  });

  describe('ATIF', () => {
    it('puts results to their calls, or to the step, and leaves token ids where they are', async () => {
      const observation = { results: [{ source_call_id: null, content: 'loose' }, { source_call_id: 'c', content: [{ type: 'text', text: 'ours' }] }] };
      const metrics = { prompt_tokens: 5, completion_tokens: 2, cached_tokens: 1, cost_usd: 0.25, prompt_token_ids: Array.from({ length: 50_000 }, (_, index) => index), logprobs: [-1] };
      const reader = await read('t.json', atif([{ step_id: 1, source: 'system', message: 'be good', timestamp: '2025-01-01T00:00:00Z' }, called(2, { observation, metrics, reasoning_content: 'hm' })]));
      const step = await reader.step(1);
      assert.deepEqual([step.title, step.calls?.[0]?.result, step.observation, step.reasoning], ['bash: ls', [{ type: 'terminal', text: 'ours' }], [{ type: 'terminal', text: 'loose' }], [{ type: 'text', text: 'hm' }]]);
      assert.deepEqual([step.tokens, step.cost, JSON.stringify(step).includes('49999')], [{ prompt: 5, completion: 2, cached: 1 }, 0.25, false]);
      const head = await reader.head();
      assert.deepEqual([head.version, head.agent, head.model, head.tokens, head.reward], ['1.7', 'a 1', 'm', { prompt: 5, completion: 2, cached: 1 }, undefined]);
    });

    it('goes on in continuations and into subagents, in the file and beside it, and round no circle', async () => {
      const ref = (more: object): object => ({ observation: { results: [{ subagent_trajectory_ref: [more] }] } });
      await put('next.json', atif([said(1, 'five', { is_copied_context: true }), said(2, 'six', { metrics: { prompt_tokens: 1, completion_tokens: 1 } })], { continued_trajectory_ref: 'main.json' }));
      await put('sub.json', atif([said(1, 'four')], { continued_trajectory_ref: 'sub.json' }));
      const inner = atif([said(1, 'two'), said(2, 'three', ref({ trajectory_path: 'sub.json' }))], { trajectory_id: 'T' });
      const reader = await read('main.json', atif([said(1, 'one', ref({ trajectory_id: 'T' })), said(2, 'four and a half')], { subagent_trajectories: [inner], continued_trajectory_ref: 'next.json' }));
      assert.deepEqual(await titles(reader), ['one', ' two', ' three', '  four', 'four and a half', '(copied) five', 'six']);
      const { problems } = await reader.head();
      assert.deepEqual(problems, ['the continuation "sub.json" was shown before: the references go in a circle', 'the continuation "main.json" was shown before: the references go in a circle']);
      const hits = [];
      for await (const hit of reader.search('FOUR')) hits.push(hit.step);
      assert.deepEqual(hits, [3, 4]);
      assert.deepEqual([(await reader.step(3)).depth, (await reader.raw(3)).text.includes('four')], [2, true]);
    });

    it('shows images beside the file, and nothing outside its folder', async () => {
      const image = (path: string): object => ({ type: 'image', source: { media_type: 'image/png', path } });
      await put('secret.png', 'secret');
      await put('in/images/a.png', 'PNG');
      await put('in/notes.txt', 'text');
      await symlink(join(folder, 'secret.png'), join(folder, 'in/images/link.png'));
      const reader = await read('in/t.json', atif([said(1, [image('images/a.png')]), said(2, [image('https://example.com/a.png'), image('data:image/png;base64,aGk=')])], { continued_trajectory_ref: '../other.json', agent: { name: 'a', version: '1' } }));
      const [part] = (await reader.step(0)).message!;
      assert.ok(part?.type === 'image');
      assert.equal(Buffer.from(await reader.blob(part.image.blob)).toString(), 'PNG');
      const [far, near] = (await reader.step(1)).message!;
      assert.deepEqual(far, { type: 'text', text: '[image: https://example.com/a.png]' });
      assert.ok(near?.type === 'image');
      assert.equal(Buffer.from(await reader.blob(near.image.blob)).toString(), 'hi');
      for (const path of ['../secret.png', '/etc/passwd.png', join(folder, 'secret.png'), 'images/link.png', 'images/../../secret.png', 'notes.txt', '..\\secret.png', 'file:///etc/x.png', 'a\0.png']) await assert.rejects(reader.blob(path), path);
      assert.match((await reader.head()).problems.join(), /outside the folder of the trace/);
    });

    it('shows what is whole of a file that was cut off or damaged', async () => {
      const text = JSON.stringify(atif([said(1, 'one'), said(2, 'two'), said(3, 'three')]));
      const cut = await read('t.json', text.slice(0, text.indexOf('three')));
      assert.deepEqual(await titles(cut), ['one', 'two']);
      assert.match((await cut.head()).problems[0]!, /ends in the middle/);
      const bad = await read('u.json', text.replace('"two"', 'tw"o"'));
      assert.deepEqual((await bad.summaries(0, 1)).map(({ title }) => title), ['one']);
      assert.ok((await bad.head()).problems.length > 0);
    });
  });

  describe('Harbor', () => {
    const result = (more: object = {}): object => ({ trial_name: 't1', task_name: 'org/task', agent_info: { name: 'a', version: '1', model_info: { name: 'm', provider: 'p' } }, started_at: '2025-01-01T00:00:00Z', finished_at: '2025-01-01T00:01:00Z', verifier_result: { rewards: { reward: 0.5, 'llm_judge.Two words': 1 } }, ...more });

    it('reads a trial by its folder, its result or its trajectory', async () => {
      await put('job/t1__abc/agent/trajectory.json', atif([said(1, 'hello')]));
      await put('job/t1__abc/result.json', result());
      for (const name of ['job', 'job/t1__abc', 'job/t1__abc/result.json', 'job/t1__abc/agent/trajectory.json']) {
        const reader = await open(join(folder, name));
        assert.deepEqual([...(await facts(reader)), ...(await titles(reader))], ['harbor', 0.5, 'completed', [], 'hello', 'reward 0.5'], name);
        assert.deepEqual((await reader.head()).components?.map(({ name: key, value }) => [key, value]), [['reward', 0.5], ['llm_judge.Two words', 1]]);
      }
    });

    it('chooses a trial of a job, and says why one has no reward', async () => {
      await put('job/a__1/agent/trajectory.json', atif([said(1, 'first')]));
      await put('job/a__1/verifier/reward.txt', '0.25\n');
      await put('job/b__2/agent/trajectory.json', atif([said(1, 'second')]));
      await put('job/b__2/result.json', result({ verifier_result: null, exception_info: { exception_type: 'AgentTimeoutError', exception_message: 'too slow', exception_traceback: 'Traceback' } }));
      await put('job/c__3/agent/trajectory.json', '{"schema_version": 1');
      await put('job/result.json', { stats: {}, n_total_trials: 3, started_at: 'x' });
      const first = await open(join(folder, 'job/result.json'));
      assert.deepEqual(await facts(first), ['harbor', 0.25, 'unknown', ['the trial has no result.json: it did not end']]);
      assert.deepEqual((await first.head()).members, { selected: 0, names: ['a__1', 'b__2', 'c__3'], total: 3 });
      const second = await open(join(folder, 'job'), 1);
      assert.deepEqual([...(await facts(second)), ...(await titles(second))], ['harbor', null, 'truncated', [], 'second', 'AgentTimeoutError: too slow']);
      assert.equal(await second.start(), 1);
      assert.match((await (await open(join(folder, 'job'), 2)).head()).problems.join(), /ends in the middle|no steps/);
      await assert.rejects(open(join(folder, 'job'), 3), /there is no trial 3/);
    });

    it('goes through the steps of a trial that has several', async () => {
      const step = (step_name: string, reward: number): object => ({ step_name, verifier_result: { rewards: { reward } } });
      await put('t/steps/b/agent/trajectory.json', atif([said(1, 'in b')]));
      await put('t/steps/a/agent/trajectory.json', atif([said(1, 'in a')]));
      await put('t/result.json', result({ verifier_result: null, step_results: [step('b', 1), step('a', 0)] }));
      const reader = await open(join(folder, 't'));
      assert.deepEqual(await titles(reader), ['in b', 'reward 1', 'in a', 'reward 0']);
      assert.deepEqual((await reader.step(2)).index, 2);
      const bins = await reader.timeline(4);
      assert.deepEqual(bins.map(({ first, last }) => [first, last]), [[0, 0], [1, 1], [2, 2], [3, 3]]);
    });
  });

  describe('SWE-agent', () => {
    const history = [{ role: 'system', content: 'rules', message_type: 'system_prompt' }, { role: 'user', content: 'task', message_type: 'observation' }];

    it('reads steps with states of either kind, and how it ended', async () => {
      const trajectory = [{ action: 'ls', observation: 'a\n', response: 'Look.\n```\nls\n```', thought: 'Look.', state: '{"cwd":"/"}', execution_time: 0.5 }, { action: 'submit', observation: '', response: 'Other words', thought: 'Done.', state: { cwd: '/' }, query: [{ role: 'user', content: 'x'.repeat(1000) }] }];
      const reader = await read('i.traj', { environment: 'e', trajectory, history: [...history, { role: 'assistant', content: 'Look.', message_type: 'action' }], info: { exit_status: 'exit_cost', model_stats: { instance_cost: 1.5, tokens_sent: 10, tokens_received: 2, api_calls: 2 } } });
      assert.deepEqual([...(await facts(reader)), ...(await titles(reader))], ['swe-agent', undefined, 'truncated', [], 'rules', 'task', 'ls', 'submit']);
      const [old, recent] = [await reader.step(2), await reader.step(3)];
      assert.deepEqual([old.info, recent.info, old.ms, old.message, recent.message], [{ state: { cwd: '/' } }, { state: { cwd: '/' } }, 500, [], [{ type: 'text', text: 'Other words' }]]);
      assert.deepEqual([(await reader.head()).cost, (await reader.head()).tokens], [1.5, { prompt: 10, completion: 2 }]);
    });

    it('reads demonstrations, which have messages alone', async () => {
      const call = { role: 'assistant', content: 'I look.', action: 'ls', message_type: 'action' };
      const reader = await read('d.traj', { history: [...history, call, { role: 'user', content: 'a.py', message_type: 'observation' }] });
      assert.deepEqual(await titles(reader), ['rules', 'task', 'ls']);
      assert.deepEqual((await reader.step(2)).observation, [{ type: 'terminal', text: 'a.py' }]);
    });
  });

  describe('mini-swe-agent', () => {
    const messages = [{ role: 'system', content: 's' }, { role: 'user', content: 'task' }, { role: 'assistant', content: 'THOUGHT\n```bash\nfalse\n```', extra: { cost: 0.5, timestamp: 1700000000.5, actions: [{ command: 'false' }] } }];
    it('reads all three shapes', async () => {
      const answer = { role: 'user', content: '<returncode>1</returncode>\n<output></output>', extra: { returncode: 1 } };
      const info = { exit_status: 'Submitted', mini_version: '2.0', model_stats: { instance_cost: 0.75 }, config: { model: { model_name: 'm' } } };
      const SHAPES: [unknown, string, string][] = [[{ info, messages: [...messages, answer], trajectory_format: 'mini-swe-agent-1.1' }, '1.1', 'completed'], [{ messages: [...messages, answer], info: { ...info, exit_status: 'LimitsExceeded' } }, '1', 'truncated'], [[...messages, answer], 'list of messages', 'unknown']];
      for (const [content, version, status] of SHAPES) {
        const reader = await read('x.traj.json', content);
        assert.deepEqual(await facts(reader), ['mini-swe-agent', undefined, status, []]);
        assert.equal((await reader.head()).version, version);
        const step = await reader.step(2);
        assert.deepEqual([step.title, step.error, step.action, step.at], ['false', 'exit 1', [{ type: 'code', language: 'sh', text: 'false' }], 1700000000500]);
        assert.equal(await reader.start(), 2, 'the last, since a command that failed is no error of the whole');
      }
    });
  });

  describe('verifiers', () => {
    const lines = (...rows: object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

    it('reads episodes whose messages branch, and sums weighted rewards', async () => {
      const node = (parent: number | null, message: object): object => ({ parent, message });
      const trace = {
        version: 1, agent: { name: 'solver' }, is_completed: true, stop_condition: 'no_tools', errors: [], metrics: { turns: 2 },
        nodes: [node(null, { role: 'user', content: 'go' }), node(0, { role: 'assistant', content: null, tool_calls: [{ id: 'x', name: 'bash', arguments: '{"cmd": "ls"}' }] }), node(1, { role: 'tool', content: 'a', tool_call_id: 'x' }), node(0, { role: 'assistant', content: 'again', reasoning_content: 'why' })],
        calls: [{ node: 1, model: 'm', usage: { prompt_tokens: 5, cached_input_tokens: 3, completion_tokens: 2 } }], rewards: { right: { score: 0.5, weight: 2 }, short: { score: 1, weight: 0.5 } },
      };
      const episode = { id: 'e1', env: { id: 'env' }, task: { key: 'k' }, errors: [], traces: [trace] };
      const missing = { ...episode, task: { key: 'l' }, traces: [{ ...trace, rewards: { right: null } }] };
      const text = lines(episode, missing);
      const reader = await read('traces.jsonl', text);
      assert.deepEqual([...(await facts(reader)), ...(await titles(reader))], ['verifiers', 1.5, 'completed', [], 'go', 'bash: ls', '(from 0) again', 'reward 1.5']);
      const step = await reader.step(1);
      assert.deepEqual([step.calls?.[0]?.result, step.tokens, step.model?.model], [[{ type: 'terminal', text: 'a' }], { prompt: 8, completion: 2, cached: 3 }, 'm']);
      assert.deepEqual((await reader.head()).members?.names, ['k', 'l']);
      assert.equal((await (await read('traces.jsonl', text, 1)).head()).reward, null, 'a score that was not given is not 0');
    });

    it('reads older results, with messages or texts', async () => {
      const row = { example_id: 7, prompt: [{ role: 'user', content: 'q' }], completion: [{ role: 'assistant', content: 'a' }], reward: 1, metrics: { len: 3 }, is_completed: true, is_truncated: false, stop_condition: 'done' };
      const reader = await read('results.jsonl', lines(row, { ...row, prompt: 'say', completion: 'said', reward: null, error: { error: 'ModelError', message: 'gone' } }));
      assert.deepEqual([...(await facts(reader)), ...(await titles(reader))], ['verifiers', 1, 'completed', [], 'q', 'a', 'reward 1']);
      const text = await open(join(folder, 'results.jsonl'), 1);
      assert.deepEqual([...(await facts(text)), ...(await titles(text))], ['verifiers', null, 'error', [], 'say', 'said', 'reward unknown']);
    });
  });

  it('reads NeMo Gym rollouts: turns of thoughts, calls and answers', async () => {
    const output = [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'think' }] }, { type: 'function_call', call_id: 'c', name: 'add', arguments: '{"a":1}' }, { type: 'function_call_output', call_id: 'c', output: '2' }, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is 2.' }] }];
    const row = { responses_create_params: { input: [{ role: 'user', content: '1+1?' }] }, response: { output, model: 'm', usage: { input_tokens: 3, output_tokens: 4 } }, reward: 0.5, reward_components: { right: 1 }, terminated: false, truncated: true, _ng_task_index: 4, _ng_rollout_index: 0 };
    const reader = await read('r.jsonl', `${JSON.stringify(row)}\n\nbroken\n${JSON.stringify({ ...row, responses_create_params: { input: 'as text' } })}`);
    assert.deepEqual([...(await facts(reader)), ...(await titles(reader))], ['nemo-gym', 0.5, 'truncated', [], '1+1?', 'add: 1', 'It is 2.', 'reward 0.5']);
    const step = await reader.step(1);
    assert.deepEqual([step.reasoning, step.calls], [[{ type: 'text', text: 'think' }], [{ id: 'c', name: 'add', arguments: { a: 1 }, result: [{ type: 'terminal', text: '2' }] }]]);
    assert.deepEqual((await reader.head()).members?.names, ['task 4 · rollout 0 · reward 0.5', 'rollout 2', 'task 4 · rollout 0 · reward 0.5']);
    assert.match((await (await open(join(folder, 'r.jsonl'), 1)).head()).problems.join(), /damaged/);
    assert.equal((await titles(await open(join(folder, 'r.jsonl'), 2)))[0], 'as text');
  });

  it('reads chat messages of both kinds, and arguments that are no JSON', async () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }] }, { role: 'assistant', content: null, reasoning: 'r', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x": ' } }] }, { role: 'tool', tool_call_id: 'a', content: 'bad arguments' }];
    const reader = await read('c.jsonl', `${JSON.stringify({ messages })}\n${JSON.stringify({ conversations: [{ from: 'human', value: 'hi' }, { from: 'gpt', value: 'ho' }] })}\n`);
    assert.deepEqual([...(await facts(reader)), ...(await titles(reader))], ['chat', undefined, 'unknown', [], 'look', 'f: {"x":']);
    const step = await reader.step(1);
    assert.deepEqual([step.calls?.[0]?.arguments, step.calls?.[0]?.result[0]], ['{"x": ', { type: 'terminal', text: 'bad arguments' }]);
    assert.deepEqual(await titles(await open(join(folder, 'c.jsonl'), 1)), ['hi', 'ho']);
  });

  it('reads transitions, one trace for each episode', async () => {
    const row = (obs: number, reward: number | null, more: object = {}): string => JSON.stringify({ obs: [obs], action: obs % 2, reward, terminated: false, truncated: false, info: {}, ...more });
    const text = [row(0, 1), row(1, 1, { terminated: true }), row(2, 0.5), row(3, null, { truncated: true }), row(4, 2)].join('\n');
    const heads = await Promise.all([0, 1, 2].map(async (member) => (await read('g.jsonl', text, member)).head()));
    assert.deepEqual(heads.map(({ steps, reward, end }) => [steps, reward, end.status]), [[2, 2, 'completed'], [2, null, 'truncated'], [1, 2, 'unknown']]);
    const named = await read('h.jsonl', [row(0, 1, { episode: 'x' }), row(1, 1, { episode: 'x' }), row(2, 1, { episode: 'y' })].join('\n'), 1);
    assert.deepEqual([(await named.head()).members?.names, (await named.head()).steps], [['episode x', 'episode y'], 1]);
    const step = await (await open(join(folder, 'g.jsonl'))).step(1);
    assert.deepEqual([step.action, step.observation, step.terminated, step.reward], [[{ type: 'json', value: 1 }], [{ type: 'json', value: [1] }], true, 1]);
  });

  it('refuses what is no trace with one sentence', async () => {
    for (const [name, content] of [['a.json', '{}'], ['b.json', '[1,2]'], ['c.txt', 'hello'], ['d', ''], ['e.json', '{"a":'], ['f.bin', Buffer.from([0, 255, 1])], ['g.zip', Buffer.from('PK\u0003\u0004rest of it')]] as const) await assert.rejects(read(name, content), /is no trace of a known format \(/, name);
    await assert.rejects(open(folder), /is no trace/);
    await assert.rejects(open(join(folder, 'nowhere')), /ENOENT/);
  });

  it('gives whatever a hostile file holds as data', async () => {
    const text = '{"schema_version":"ATIF-v1.7","agent":{"name":"a","version":"1"},"steps":[{"step_id":{"a":1},"source":"agent","message":' + '['.repeat(50_000) + ']'.repeat(50_000) + '},{"__proto__":{"x":1},"step_id":2,"source":"x","message":{"toString":1},"tool_calls":[{"function_name":5,"arguments":null},7],"observation":{"results":5},"timestamp":{},"metrics":[]},5]}';
    const reader = await read('t.json', text);
    const steps = await reader.summaries(0, 9);
    assert.equal(steps.length, 3);
    for (const { index } of steps) await reader.step(index);
    assert.equal(steps[2]?.error, 'damaged');
    assert.equal(({} as { x?: unknown }).x, undefined);
  });
});
