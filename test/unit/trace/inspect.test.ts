import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TraceReader } from '../../../src/trace/model.js';
import { openTrace } from '../../../src/trace/open.js';
import { chunkedEval, evalFile, jsonLog, sample } from '../../support/traces/inspect.js';
import { zipOf, zstdBomb } from '../../support/traces/zip.js';

describe('Inspect logs', () => {
  let folder: string;
  const opened: TraceReader[] = [];
  const read = async (name: string, data: string | Buffer, member?: number): Promise<TraceReader> => {
    const file = join(folder, name);
    await writeFile(file, data);
    const reader = await openTrace(file, { member });
    opened.push(reader);
    await reader.settled();
    return reader;
  };

  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'rl-inspect-'))));
  afterEach(async () => {
    for (const reader of opened.splice(0)) await reader.close();
    await rm(folder, { recursive: true, force: true });
  });

  const SHAPES: [string, () => Buffer | string, string][] = [
    ['deflate', () => evalFile(), 'log.eval'],
    ['stored', () => evalFile({ method: 'store' }), 'log.eval'],
    ['Zstandard of several frames', () => evalFile({ method: 'zstd' }), 'log.eval'],
    ['ZIP64', () => evalFile({ zip64: true }), 'log.eval'],
    ['chunks', chunkedEval, 'log.eval'],
    ['JSON', jsonLog, 'log.json'],
  ];
  for (const [shape, make, name] of SHAPES)
    it(`reads ${shape}`, async () => {
      const reader = await read(name, make());
      const head = await reader.head();
      assert.deepEqual([head.format, head.task, head.model, head.reward, head.end.status, head.tokens, head.cost, head.problems], ['inspect', 'count', 'open/tiny', 0.5, 'completed', { prompt: 10, completion: 4 }, 0.5, []]);
      const steps = await reader.summaries(0, 99);
      // In chunks of two, the tool is in another chunk than the model that called it: then it is a step of its own.
      const apart = shape === 'chunks';
      assert.deepEqual(steps.filter(({ label }) => label !== 'tool' && label !== 'sandbox').map(({ label, kind, reward }) => [label, kind, reward]), [['sample_init', 'message', undefined], ['model', 'tool', undefined], ['score', 'verifier', 0.5]]);
      assert.deepEqual([steps[0]?.title, steps[0]?.image], ['How many lines does the long question have?', true]);
      const first = await reader.step(0);
      const image = first.message?.[1];
      assert.ok(image?.type === 'image');
      assert.deepEqual(Buffer.from(await reader.blob(image.image.blob)).toString('base64'), 'iVBORw0KGgo=');
      const model = await reader.step(1);
      assert.deepEqual([model.ms, model.reasoning, model.message], [2000, [{ type: 'text', text: 'Let me see.' }], [{ type: 'text', text: 'Counting.' }]]);
      assert.deepEqual((model.model?.request as { messages: unknown }).messages, [{ role: 'user', content: 'How many lines does the long question have?' }]);
      const tool = await reader.step((await reader.nextError(-1, 1))!);
      if (!apart) assert.deepEqual([tool.index, tool.calls?.[0]?.error, tool.calls?.[0]?.result], [1, 'took too long', [{ type: 'terminal', text: '\u001b[32m41 lines\u001b[0m' }]]);
      const hits = [];
      for await (const hit of reader.search('41 LINES')) hits.push(hit.step);
      assert.deepEqual(hits.length, 1, 'texts that lie elsewhere are searched where they are shown');
      const bins = await reader.timeline(2);
      assert.equal(bins.at(-1)!.last, steps.length - 1);
    });

  it('counts its samples as people do and opens the one asked for', async () => {
    const reader = await read('log.eval', evalFile(), 2);
    const { members, title } = await reader.head();
    assert.deepEqual(members, { selected: 2, total: 3, names: ['1 · epoch 1 · check 0.5', '2 · epoch 1 · check 0.5', '10 · epoch 1 · check 0.5'] });
    assert.match(title, /sample 10/);
    await assert.rejects(read('other.eval', evalFile(), 3), /there is no sample 3: the file holds 3, from 0/);
  });

  it('reads a log whose evaluation did not end', async () => {
    const reader = await read('log.eval', evalFile({ unfinished: true }));
    const head = await reader.head();
    assert.deepEqual([head.steps, head.model, head.members?.names[0]], [3, 'open/tiny', '1 · epoch 1 · check 0.5']);
    assert.match(head.problems.join(), /no header.json: the evaluation did not end/);
  });

  it('reads NaN as no score, old transcripts, and samples with messages alone', async () => {
    const bare = await read('log.json', jsonLog({ scores: { check: { value: 'X' } } }).replace('"X"', 'NaN'));
    assert.equal((await bare.head()).reward, null);
    const { events, attachments, ...rest } = sample(1) as Record<string, unknown>;
    const old = await read('log.json', JSON.stringify({ version: 1, status: 'success', eval: { task: 't' }, samples: [{ ...rest, transcript: { events, content: attachments } }] }));
    assert.deepEqual([(await old.head()).steps, (await old.summaries(0, 1))[0]?.title], [3, 'How many lines does the long question have?']);
    const messages = await read('log.json', JSON.stringify({ version: 2, status: 'error', eval: {}, samples: [{ ...rest, attachments, error: { message: 'boom' } }] }));
    assert.deepEqual((await messages.summaries(0, 9)).map(({ title }) => title), ['How many lines does the long question have?', '41']);
    assert.deepEqual((await messages.head()).end, { status: 'error', reason: 'boom' });
    const several = await read('log.json', jsonLog({ scores: { a: { value: 1 }, b: { value: { x: true, y: 'no' } } } }));
    assert.deepEqual([(await several.head()).reward, (await several.head()).components], [null, [{ name: 'a', value: 1 }, { name: 'b.x', value: 1 }, { name: 'b.y', value: null }]]);
  });

  it('refuses what unpacks to more than it says, and what it says is too much', async () => {
    const bomb = Buffer.alloc(4 << 20, 32);
    const part = { name: 'samples/1_epoch_1.json', data: bomb };
    await assert.rejects(read('log.eval', zipOf([{ ...part, says: 1000 }])), /unpacks to more than the 1000 bytes/);
    await assert.rejects(read('log.eval', zipOf([{ name: part.name, data: 'x', says: 3_000_000_000 }])), /3000000000 bytes unpacked, more than/);
    const before = process.memoryUsage().arrayBuffers;
    await assert.rejects(read('log.eval', zipOf([{ name: part.name, data: zstdBomb(4000), method: 'zstd', packed: true, says: 1 << 20 }])), /unpacks to more than the 1048576 bytes/);
    assert.ok(process.memoryUsage().arrayBuffers - before < 64 << 20, 'half a gigabyte was never there');
    const files = (await readdir(tmpdir())).filter((name) => name.startsWith('rl-trace-'));
    assert.deepEqual(files, [], 'nothing is left of what was unpacked');
  });

  it('takes names of entries for names only, and tells of a file that was cut off', async () => {
    await assert.rejects(read('log.eval', zipOf([{ name: 'samples/../../../../tmp/evil.json', data: '{}' }, { name: 'header.json', data: '{}' }])), /holds no sample/);
    const whole = evalFile();
    await assert.rejects(read('log.eval', whole.subarray(0, whole.length - 30)), /has no directory: it was cut off/);
    const damaged = Buffer.from(whole);
    const at = damaged.indexOf('samples/1_epoch_1.json') + 22;
    damaged.fill(0xff, at, at + 60);
    await assert.rejects(read('log.eval', damaged));
    assert.equal((await (await read('log.eval', damaged, 1)).head()).problems.length, 0, 'the other samples can be read');
  });
});
