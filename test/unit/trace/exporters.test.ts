import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { exportAtif, exportChat, exportNative } from '../../../src/engine/exportTraces.js';
import { chosenEpisodes } from '../../../src/engine/export.js';
import { exportSelection } from '../../../src/engine/exportSelection.js';
import { Layout } from '../../../src/store/layout.js';
import type { EpisodeRecord, RunRecord } from '../../../src/store/records.js';
import { atifRoot, trialResult } from '../../../src/trace/exporters/atifSchema.js';
import type { TraceEvent } from '../../../src/trace/events.js';
import type { TraceReader } from '../../../src/trace/model.js';
import { openTrace } from '../../../src/trace/open.js';
import { AT, end, lines, start, step } from '../../support/traces/native.js';

const PNG = Buffer.from('iVBORw0KGgo=', 'base64');
const LONG = Buffer.from('a long line\n'.repeat(2000));
const sha = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
const blob = (data: Buffer, mediaType: string): object => ({ $blob: true, blob: sha(data), mediaType, bytes: data.length, ...(mediaType.startsWith('text') && { head: 'a long line' }) });

/** A model that calls two tools, one of which shows an image and one of which prints much; then a step of an environment. */
const events = [
  start({ tools: [{ type: 'function', function: { name: 'bash', parameters: {} } }] }),
  { type: 'message', at: AT, role: 'system', content: 'Be brief.' },
  { type: 'message', at: AT, role: 'user', content: 'List it.' },
  { type: 'model', at: AT, ms: 3, step: 1, url: 'http://127.0.0.1/v1', model: 'tiny', context: [[0, 2]], parameters: {}, reply: { role: 'assistant', content: 'Looking.' }, attempt: 1 },
  step(1, {
    action: { kind: 'calls', text: 'Looking.', reasoning: 'Hm.', calls: [{ id: 'a', name: 'bash', arguments: { command: 'ls' } }, { id: 'b', name: 'odd', arguments: 'no json' }] },
    observation: { kind: 'results', results: [{ call: 'a', ms: 4, stdout: blob(LONG, 'text/plain') as never, exitCode: 1 }, { call: 'b', ms: 1, stdout: 'half \ud83d', error: 'unknown tool' }] },
    reward: null, tokens: { prompt: 7, completion: 3 }, cost: 0.5,
  }),
  { type: 'note', at: AT, level: 'warning', what: 'retry', message: 'once more' },
  step(2, { action: { kind: 'value', value: [1, 2] }, observation: { kind: 'value', value: { x: 1 } }, reward: 0.5, terminated: true, frames: [blob(PNG, 'image/png') as never] }),
  { type: 'reward', at: AT, ms: 1, reward: 0.25, components: [{ name: 'tests', weight: 1, value: 0.25 }] },
  end(2, 0.25),
] as TraceEvent[];

const record = (episode: number, more: Partial<EpisodeRecord> = {}): EpisodeRecord => ({
  episode, seed: episode, sample: 0, status: 'completed', reward: 0.25, components: [{ name: 'tests', weight: 1, value: 0.25 }, { name: 'style', weight: 0, value: 1 }], steps: 2, attempts: 1, startedAt: AT,
  timings: { restore: 10, act: 20, score: 5, terminate: 1, total: 40 }, output: { stdout: 0, stderr: 0, dropped: 0 }, artifacts: 0, ...more,
});

const run: RunRecord = {
  id: 'hello-1', number: 1, file: '/w/hello.rlenv.yaml', template: 'hello', provider: 'bubblewrap', seeds: { first: 0, last: 3 }, samples: 1, concurrency: 4, timeoutMs: 1000, policy: 'llm', state: 'done', owner: 'o', createdAt: AT, templateDigest: 'd', total: 4,
};

describe('exports of traces', () => {
  let folder: string;
  let layout: Layout;
  const records = [record(0), record(1, { status: 'truncated', reward: null, components: [], cause: 'timed-out: ran longer than 1 s' }), record(2), record(3, { reward: 0 })];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rl-exports-'));
    layout = new Layout(folder);
    for (const episode of [0, 1, 3]) {
      const home = layout.episode(run.id, episode);
      await mkdir(join(home, 'blobs'), { recursive: true });
      await writeFile(join(home, 'trace.jsonl'), lines(episode === 3 ? [start(), end(0, 0)] : events));
      for (const data of [PNG, LONG]) await writeFile(join(home, 'blobs', sha(data)), data);
    }
    await writeFile(layout.episodesFile(run.id), records.map((one) => `${JSON.stringify(one)}\n`).join(''));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const read = async <T>(file: string, use: (reader: TraceReader) => Promise<T>, member?: number): Promise<T> => {
    const reader = await openTrace(file, { member });
    try {
      await reader.settled();
      return await use(reader);
    } finally {
      await reader.close();
    }
  };

  it('writes a Harbor job that is ATIF 1.7 to the letter, and reads back as it was', async () => {
    const job = join(folder, 'job');
    const result = await exportAtif(layout, run, records, job);
    assert.deepEqual(result, { episodes: 3, left: [{ episode: 2, why: 'it has no trace' }] });
    const [first, second] = ['hello__e000000', 'hello__e000001'];
    const document = atifRoot.parse(JSON.parse(await readFile(join(job, first, 'agent', 'trajectory.json'), 'utf8')));
    assert.deepEqual(document.steps.map(({ source }) => source), ['system', 'user', 'agent', 'system', 'agent']);
    const [calling, acting] = [document.steps[2]!, document.steps[4]!];
    assert.deepEqual(calling.tool_calls?.map(({ function_name: name, arguments: args }) => [name, args]), [['bash', { command: 'ls' }], ['odd', { arguments: 'no json' }]]);
    assert.deepEqual(calling.observation?.results.map(({ content, extra }) => [content?.length, extra]), [[LONG.length, { exit_code: 1, duration_ms: 4 }], [6, { duration_ms: 1, error: 'unknown tool' }]]);
    assert.deepEqual([calling.metrics, calling.reasoning_content, calling.model_name], [{ prompt_tokens: 7, completion_tokens: 3, cost_usd: 0.5 }, 'Hm.', 'tiny']);
    assert.deepEqual([acting.tool_calls?.[0]?.arguments, acting.extra?.reward, acting.extra?.terminated], [{ action: [1, 2] }, 0.5, true]);
    assert.deepEqual([document.final_metrics, document.agent.tool_definitions?.length], [{ total_prompt_tokens: 7, total_completion_tokens: 3, total_cost_usd: 0.5, total_steps: 5 }, 1]);
    assert.deepEqual(await readFile(join(job, first, 'agent', 'images', `${sha(PNG)}.png`)), PNG);
    assert.deepEqual(JSON.parse(await readFile(join(job, first, 'verifier', 'reward.json'), 'utf8')), { reward: 0.25, tests: 0.25, style: 1 });

    const failed = trialResult.parse(JSON.parse(await readFile(join(job, second, 'result.json'), 'utf8')));
    assert.deepEqual([failed.verifier_result, failed.exception_info?.exception_type], [null, 'AgentTimeoutError'], 'a reward that is not known is not written as 0');
    assert.deepEqual(await readdir(join(job, second)), ['agent', 'result.json']);
    const { stats } = JSON.parse(await readFile(join(job, 'result.json'), 'utf8')) as { stats: { evals: Record<string, unknown> } };
    assert.deepEqual(stats.evals['llm__tiny__hello'], { n_trials: 3, n_errors: 1, metrics: [], pass_at_k: {}, reward_stats: { reward: { '0.25': [first], '0': ['hello__e000003'] } }, exception_stats: { AgentTimeoutError: [second] } });

    const original = await read(join(layout.episode(run.id, 0), 'trace.jsonl'), async (reader) => reader.step(2));
    const back = await read(job, async (reader) => ({ head: await reader.head(), step: await reader.step(2), last: await reader.step(4), image: (await reader.summaries(0, 9)).map(({ image }) => image ?? false) }));
    assert.deepEqual([back.head.reward, back.head.problems, back.head.members?.total], [0.25, [], 3]);
    assert.deepEqual([back.step.title, back.step.calls?.map(({ name }) => name)], [original.title, original.calls?.map(({ name }) => name)]);
    assert.deepEqual(back.image, [false, false, false, false, true, false]);
  });

  it('writes chat messages that a model can be trained on', async () => {
    const output = new PassThrough();
    const written = textOf(output);
    await exportChat(layout, run, records.slice(0, 1), output);
    output.end();
    const { messages, ...rest } = JSON.parse(await written) as { messages: Record<string, unknown>[] };
    assert.deepEqual(messages.map(({ role }) => role), ['system', 'user', 'assistant', 'tool', 'tool', 'assistant', 'user']);
    assert.deepEqual(messages[2], { role: 'assistant', content: 'Looking.', reasoning_content: 'Hm.', tool_calls: [{ id: 'a', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }, { id: 'b', type: 'function', function: { name: 'odd', arguments: 'no json' } }] });
    assert.deepEqual([messages[3], messages[4]?.content], [{ role: 'tool', tool_call_id: 'a', content: LONG.toString() }, 'half \ufffd']);
    assert.deepEqual(rest, { tools: [{ type: 'function', function: { name: 'bash', parameters: {} } }], model: 'tiny', reward: 0.25, id: 'hello-1-0', metadata: { run: 'hello-1', episode: 0, seed: 0, sample: 0, status: 'completed' } });
    await writeFile(join(folder, 'chat.jsonl'), await written);
    assert.equal(await read(join(folder, 'chat.jsonl'), async (reader) => (await reader.head()).format), 'chat');
  });

  it('copies traces with their blobs, of the episodes that a filter chooses', async () => {
    const chosen = await chosenEpisodes(layout, run.id, { where: 'status:completed reward>0 episode:0..1' });
    const to = join(folder, 'native');
    assert.deepEqual(await exportNative(layout, run, chosen, to), { episodes: 1, left: [] });
    assert.deepEqual([await readdir(join(to, 'episodes')), (await readdir(join(to, 'episodes', '0', 'blobs'))).length], [['0'], 2]);
    assert.equal((await readFile(join(to, 'episodes.jsonl'), 'utf8')).split('\n').length, 2);
    await assert.rejects(chosenEpisodes(layout, run.id, { where: 'nonsense<3' }), /is not a field/);
  });

  it('writes a selection in each format to one path, and leaves no file that was cut short', async () => {
    const to = (name: string) => join(folder, 'selection', name);
    await mkdir(join(folder, 'selection'));
    for (const format of ['jsonl', 'csv', 'chat', 'atif', 'native'] as const) {
      const { episodes } = await exportSelection(layout, run, format, { episodes: [0, 99] }, to(format));
      assert.equal(episodes, 1, format);
    }
    const lines = async (name: string) => (await readFile(to(name), 'utf8')).trimEnd().split('\n').length;
    assert.deepEqual([await lines('jsonl'), await lines('csv'), await lines('chat')], [1, 2, 1]);
    assert.ok((await readdir(to('atif'))).includes('result.json'));
    assert.deepEqual(await readdir(join(to('native'), 'episodes')), ['0']);
    await assert.rejects(exportSelection(layout, run, 'chat', {}, to('aborted'), AbortSignal.abort(new Error('cancelled'))), /cancelled/);
    await assert.rejects(exportSelection(layout, run, 'jsonl', {}, to('no/such/folder')), { code: 'ENOENT' });
    assert.deepEqual((await readdir(join(folder, 'selection'))).sort(), ['atif', 'chat', 'csv', 'jsonl', 'native']);
  });
});
