import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TraceReader } from '../../../src/trace/model.js';
import { openTrace } from '../../../src/trace/open.js';
import { AT, end, lines, start, step, writeLong } from '../../support/traces/native.js';

describe('native trace', () => {
  let folder: string;
  let file: string;
  const open: TraceReader[] = [];
  const read = async (content?: string): Promise<TraceReader> => {
    if (content !== undefined) await writeFile(file, content);
    const reader = await openTrace(file);
    open.push(reader);
    return reader;
  };
  const hits = async (reader: TraceReader, text: string): Promise<number[]> => {
    const found: number[] = [];
    for await (const hit of reader.search(text)) {
      assert.equal(hit.text.slice(hit.start, hit.end).toLowerCase(), text.toLowerCase());
      found.push(hit.step);
    }
    return found;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rl-native-'));
    file = join(folder, 'trace.jsonl');
  });
  afterEach(async () => {
    for (const reader of open.splice(0)) await reader.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('is found in the folder of its episode', async () => {
    await writeFile(file, lines([start(), step(1), end(1, 1)]));
    const reader = await openTrace(folder);
    open.push(reader);
    assert.deepEqual([(await reader.head()).format, (await reader.head()).steps], ['native', 1]);
  });

  it('makes one step of what a model was asked, what it began and what came of it', async () => {
    const call = { id: 'c1', name: 'bash', arguments: { command: 'ls -la' } };
    const reader = await read(
      lines([
        start(),
        { type: 'message', at: AT, role: 'user', content: 'List the files.' },
        { type: 'model', at: AT + 1, ms: 3, step: 1, url: 'http://127.0.0.1/v1', model: 'tiny', context: [[0, 1]], parameters: { temperature: 0 }, tokens: { prompt: 12, completion: 3 }, cost: 0.5, attempt: 2 },
        { type: 'begin', at: AT + 4, step: 1, action: { kind: 'calls', calls: [call] } },
        step(1, { action: { kind: 'calls', text: 'Looking.', calls: [call] }, observation: { kind: 'results', results: [{ call: 'c1', ms: 4, stdout: '\u001b[31mred\u001b[0m', exitCode: 2 }] }, reward: null, tokens: { prompt: 12, completion: 3 }, cost: 0.5 }),
        { type: 'reward', at: AT + 20, ms: 2, reward: 0.25, components: [{ name: 'tests', weight: 1, value: 0.25 }] },
        end(1, 0.25),
      ]),
    );
    const [message, tool, verifier] = await reader.summaries(0, 10);
    assert.deepEqual([message?.title, message?.source], ['List the files.', 'user']);
    assert.deepEqual([tool?.title, tool?.kind, tool?.error, tool?.reward], ['bash: ls -la', 'tool', 'exit 2', null]);
    assert.deepEqual([verifier?.kind, verifier?.reward], ['verifier', 0.25]);
    const detail = await reader.step(1);
    assert.deepEqual(detail.calls?.[0]?.result, [{ type: 'terminal', text: '\u001b[31mred\u001b[0m' }]);
    assert.deepEqual([detail.model?.attempts, detail.model?.request], [2, { model: 'tiny', temperature: 0, messages: [{ role: 'user', content: 'List the files.' }] }]);
    await reader.timeline(3);
    const head = await reader.head();
    assert.deepEqual([head.format, head.steps, head.reward, head.cost, head.tokens?.prompt, head.end.status, head.live, head.problems], ['native', 3, 0.25, 0.5, 12, 'completed', false, []]);
    assert.equal(await reader.nextError(-1, 1), 1);
    assert.equal(await reader.start(), 2, 'a command that exits with another code than 0 is not what it is opened on');
  });

  it('follows a file that grows: a step that began, then its end, then more', async () => {
    const begin = { type: 'begin', at: AT, step: 0, action: { kind: 'command', command: 'sleep 1', language: 'sh' } } as const;
    const reader = await read(lines([start(), begin]));
    assert.deepEqual((await reader.summaries(0, 9)).map(({ title, pending }) => [title, pending]), [['sleep 1', true]]);
    assert.equal((await reader.head()).live, true);
    const whole = lines([step(0, { action: begin.action, observation: { kind: 'command', stdout: 'done' } }), step(1)]);
    await appendFile(file, whole.slice(0, -20));
    assert.equal(await reader.refresh(), true);
    assert.deepEqual((await reader.summaries(0, 9)).map(({ label, pending }) => [label, pending]), [['0', undefined]]);
    await appendFile(file, whole.slice(-20) + lines([end(2)]));
    assert.equal(await reader.refresh(), true);
    assert.equal(await reader.refresh(), false);
    assert.equal((await reader.head()).steps, 2);
    assert.equal((await reader.head()).live, false);
  });

  it('says which lines are damaged or torn and reads the rest', async () => {
    const reader = await read(lines([start(), step(0)]) + 'no json\n\n{"type":"step","at":5,"st\n' + lines([step(1), end(2)]) + '{"type":"no');
    assert.deepEqual((await reader.summaries(0, 9)).map(({ label }) => label), ['0', 'damaged', '1']);
    await reader.start();
    const { problems } = await reader.head();
    assert.match(problems[0]!, /^line 3 is damaged/);
    assert.match(problems.at(-1)!, /^line 8, the last, is torn: its 11 bytes/);
  });

  it('gives blobs by their digest, and nothing else', async () => {
    const content = Buffer.from('x'.repeat(1000));
    const blob = createHash('sha256').update(content).digest('hex');
    await mkdir(join(folder, 'blobs'));
    await writeFile(join(folder, 'blobs', blob), content);
    await writeFile(join(folder, 'secret'), 'secret');
    await symlink(join(folder, 'secret'), join(folder, 'blobs', '0'.repeat(64)));
    const reader = await read(lines([start(), step(0, { observation: { kind: 'command', stdout: { $blob: true, blob, mediaType: 'text/plain', bytes: 1000, head: 'xxx' } } })]));
    const { observation } = await reader.step(0);
    assert.deepEqual(observation, [{ type: 'long', content: { blob, mediaType: 'text/plain', bytes: 1000, head: 'xxx' } }]);
    assert.deepEqual(Buffer.from(await reader.blob(blob)), content);
    await writeFile(join(folder, 'blobs', blob), 'x'.repeat(980) + 'Größe "of it"');
    assert.deepEqual([await hits(reader, 'GRÖßE "OF'), await hits(reader, 'not there')], [[0], []], 'texts in blobs are searched');
    for (const name of ['../secret', `${'0'.repeat(63)}`, 'secret', '/etc/passwd', '0'.repeat(64)]) await assert.rejects(reader.blob(name), name);
  });

  it('cuts a line of 40 MB and says how much of it', async () => {
    const reader = await read(lines([start(), step(0, { observation: { kind: 'command', stdout: 'ab\\"'.repeat(8 << 20) } }), step(1)]));
    const detail = await reader.step(0);
    const part = detail.observation?.[0];
    assert.ok(part?.type === 'long');
    assert.match(Buffer.from(await reader.blob(part.content.blob)).toString(), /\[\d+ bytes left out\]$/);
    assert.equal((await reader.summaries(1, 2))[0]?.label, '1');
    const raw = await reader.raw(0, 100);
    assert.deepEqual([raw.text.length, raw.bytes > 40 << 20], [100, true]);
  });

  it('finds text whatever its case, escaped or not, and reports errors in both directions', async () => {
    const events = Array.from({ length: 300 }, (_, index) => step(index, { info: { note: index === 150 ? 'Die Größe "des"\nTisches' : `step ${index}` }, ...(index % 100 === 50 && { error: 'timed out' }) }));
    const reader = await read(lines([start(), ...events]).replace('Größe', 'Gr\\u00f6\\u00DFe'));
    assert.deepEqual(await hits(reader, 'STEP 2'), [2, ...Array.from({ length: 10 }, (_, index) => 20 + index), ...Array.from({ length: 100 }, (_, index) => 200 + index)]);
    assert.deepEqual(await hits(reader, 'größe "des'), [150]);
    assert.deepEqual(await hits(reader, 'öß'), [150]);
    assert.deepEqual([await reader.nextError(-1, 1), await reader.nextError(50, 1), await reader.nextError(299, -1), await reader.nextError(250, 1)], [50, 150, 250, undefined]);
    assert.equal(await reader.start(), 50);
    const bins = await reader.timeline(10);
    assert.deepEqual([bins.length, bins[0]!.first, bins[9]!.last, bins[1]!.error, bins[0]!.error], [10, 0, 299, true, false]);
    assert.deepEqual([bins[0]!.from, bins[0]!.to], [0, 300]);
  });

  it('finds text that lies across the pieces in which a file is read', async () => {
    let text = lines([start()]);
    for (let number = 0; number < 20; number += 1) {
      const line = lines([step(number, { info: { note: '@' } })]);
      const across = (number + 1) * 65_536 - 1 - (number % 5);
      text += line.replace('@', `${'x'.repeat(across - text.length - line.indexOf('@'))}needle`);
    }
    assert.deepEqual(await hits(await read(text), 'Needle'), Array.from({ length: 20 }, (_, index) => index));
  });

  it('finds a step in a long file while it is still being gone through', async () => {
    await writeLong(file, 20_000);
    const reader = await read();
    assert.deepEqual((await reader.summaries(0, 2)).map(({ title }) => title), ['ls -la /data/0', 'ls -la /data/1']);
    assert.deepEqual(await hits(reader, 'NEEDLE notes'), [10_000]);
    assert.equal(await reader.nextError(0, 1), undefined);
    assert.equal((await reader.head()).steps, 20_000);
    assert.equal((await reader.head()).indexed, undefined);
    assert.equal((await reader.step(19_999)).label, '19999');
  });
});
