import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFile, mkdtemp, open, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redactor } from '../../../src/rollout/secrets.js';
import type { StepEvent, StoredBlob, TraceEvent } from '../../../src/trace/events.js';
import { traceEvent } from '../../../src/trace/schema.js';
import { INLINE_BYTES, TraceWriter, isBlob } from '../../../src/trace/writer.js';

const start = { type: 'start', version: 1, at: 1, episode: 0, seed: 0, sample: 0, attempt: 1, template: 't', provider: 'p', policy: { name: 'script' } } as const;
const end = { type: 'end', at: 9, status: 'completed', steps: 1, reward: 1 } as const;

describe('a trace as it is written', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'rl-trace-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const text = () => readFile(join(folder, 'trace.jsonl'), 'utf8');
  const lines = async () => (await text()).split('\n').filter(Boolean).map((line) => JSON.parse(line) as TraceEvent);
  const step = (writer: TraceWriter, number: number, stdout: string): StepEvent => ({
    type: 'step', at: 2, ms: 1, step: number, action: { kind: 'none' }, observation: { kind: 'command', stdout: writer.content(stdout) }, reward: null, terminated: false, truncated: false,
  });
  const until = async (holds: () => Promise<boolean>) => {
    while (!(await holds().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  it('is there while the episode runs, and says what is being done', async () => {
    const writer = new TraceWriter({ folder });
    writer.write(start);
    writer.begin({ step: 1, at: 2, action: { kind: 'command', command: 'sleep 100', language: 'sh' } });
    await until(async () => (await lines()).length === 2);
    assert.deepEqual((await lines()).map(({ type }) => type), ['start', 'begin']);
    writer.write(step(writer, 1, 'x'));
    writer.write(end);
    await writer.finish();
    assert.deepEqual((await lines()).map(({ type }) => type), ['start', 'begin', 'step', 'end']);
  });

  it('has no line for the beginning of a short step, and each line is as the schema says', async () => {
    const writer = new TraceWriter({ folder });
    writer.write(start);
    writer.begin({ step: 1, at: 2, action: { kind: 'none' } });
    writer.write(step(writer, 1, 'x'));
    writer.note('warning', 'retry', 'again');
    writer.write(end);
    await writer.finish();
    const events = await lines();
    assert.deepEqual(events.map(({ type }) => type), ['start', 'step', 'note', 'end']);
    for (const event of events) traceEvent.parse(event);
  });

  it('keeps big values once, as blobs under their digest', async () => {
    const writer = new TraceWriter({ folder });
    const big = 'é'.repeat(INLINE_BYTES);
    writer.write(start);
    writer.write(step(writer, 1, big));
    writer.write(step(writer, 2, big));
    writer.write(step(writer, 3, 'a'.repeat(INLINE_BYTES)));
    const list = writer.content(Array.from({ length: 5000 }, (_, index) => index));
    assert.ok(isBlob(list) && list.mediaType === 'application/json');
    await writer.finish();
    const events = await lines();
    const [first, second, third] = events.slice(1).map((event) => (event as StepEvent).observation as { stdout: unknown });
    const blob = first!.stdout as StoredBlob;
    assert.deepEqual(second!.stdout, blob);
    assert.equal(third!.stdout, 'a'.repeat(INLINE_BYTES));
    assert.equal(blob.bytes, 2 * INLINE_BYTES);
    assert.match(blob.head!, /^é+$/);
    const kept = await readFile(join(folder, 'blobs', blob.blob));
    assert.equal(kept.toString(), big);
    assert.equal(createHash('sha256').update(kept).digest('hex'), blob.blob);
    assert.equal((await readdir(join(folder, 'blobs'))).length, 2, 'nothing but the two values');
  });

  it('is valid UTF-8 whatever text it is given', async () => {
    const writer = new TraceWriter({ folder });
    writer.write(start);
    writer.write(step(writer, 1, 'half \ud83d of a pair, "\\ud83d" written out, \u0000 and 😀'));
    writer.write(step(writer, 2, '\udc00'.repeat(INLINE_BYTES)));
    writer.write({ ...step(writer, 3, ''), reward: NaN });
    await writer.finish();
    const bytes = await readFile(join(folder, 'trace.jsonl'));
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const events = await lines();
    assert.equal(((events[1] as StepEvent).observation as { stdout: string }).stdout, 'half \ufffd of a pair, "\\ud83d" written out, \u0000 and 😀');
    assert.equal((events[3] as StepEvent).reward, null);
  });

  it('never holds a secret, however JSON writes it', async () => {
    const secret = 'p"ss\\wörd\n1';
    const redactor = new Redactor({ KEY: secret });
    const writer = new TraceWriter({ folder, redact: (each) => redactor.json(each) });
    writer.write(start);
    writer.write(step(writer, 1, `a ${secret} b`));
    writer.write({ ...step(writer, 2, JSON.stringify({ key: secret })), info: { [secret]: secret } });
    writer.write(step(writer, 3, `${secret} `.repeat(INLINE_BYTES)));
    await writer.finish();
    const all = [await text(), ...(await Promise.all((await readdir(join(folder, 'blobs'))).map((name) => readFile(join(folder, 'blobs', name), 'utf8'))))];
    assert.equal(all.length, 2);
    for (const each of all) {
      assert.doesNotMatch(each, /wörd/);
      assert.match(each, /\*\*\*/);
    }
  });

  it('stays within its limit, says so, and still tells how it ended', async () => {
    const writer = new TraceWriter({ folder, maxBytes: 20_000 });
    writer.write(start);
    for (let number = 1; number <= 200; number++) writer.write(step(writer, number, 'x'.repeat(500)));
    writer.write(step(writer, 201, 'y'.repeat(INLINE_BYTES * 4)));
    writer.write(end);
    await writer.finish();
    const events = await lines();
    assert.deepEqual(events.slice(-2).map((event) => (event.type === 'note' ? event.what : event.type)), ['full', 'end']);
    assert.ok((await stat(join(folder, 'trace.jsonl'))).size < 21_000);
    assert.ok(events.length > 20);
    assert.deepEqual(await readdir(folder), ['trace.jsonl'], 'a value that did not fit is not kept');
  });

  it('takes the place of the trace of an earlier attempt', async () => {
    const first = new TraceWriter({ folder });
    first.write(start);
    await first.finish();
    await appendFile(join(folder, 'trace.jsonl'), '{"type":"st');
    const old = await open(join(folder, 'trace.jsonl'));
    const second = new TraceWriter({ folder });
    second.write({ ...start, attempt: 2 });
    await second.finish();
    assert.deepEqual(await lines(), [{ ...start, attempt: 2 }]);
    // Who follows the old one has another file in hand, and can tell.
    assert.notEqual((await old.stat()).ino, (await stat(join(folder, 'trace.jsonl'))).ino);
    await old.close();
  });

  it('tells of a folder that cannot be written', async () => {
    await writeFile(join(folder, 'file'), '');
    const writer = new TraceWriter({ folder: join(folder, 'file') });
    writer.write(start);
    await assert.rejects(writer.finish(), /ENOTDIR|EEXIST/);
  });
});
