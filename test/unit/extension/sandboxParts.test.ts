/** Pieces beneath the commands on live sandboxes: text, streams, files by pieces, addresses, selections. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { addressOf, isAuthorityOf, readView } from '../../../src/extension/sandbox/address.js';
import { commandFor, dedent } from '../../../src/extension/sandbox/interpreters.js';
import { Listings } from '../../../src/extension/sandbox/listings.js';
import { readFile, TooLarge, writeFile } from '../../../src/extension/sandbox/pieces.js';
import { PlainText } from '../../../src/extension/sandbox/plainText.js';
import { Streams } from '../../../src/extension/sandbox/streams.js';
import { Snapshots } from '../../../src/extension/snapshots.js';
import { MOST_PIECE } from '../../../src/runner/sandboxApi.js';
import type { FileEntry } from '../../../src/sandbox/provider.js';
import { FakeRunner } from './fakeRunner.js';
import { ROOT, snapshotReport } from './samples.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const ref = { root: ROOT, id: 'bw-1', provider: 'bubblewrap' };

describe('output as plain text', () => {
  const through = (...pieces: (string | Uint8Array)[]) => {
    const plain = new PlainText();
    return pieces.map((piece) => plain.push(typeof piece === 'string' ? bytes(piece) : piece)).join('') + plain.end();
  };

  it('has no escapes, wherever they are cut', () => {
    const text = 'a\u001b[31mred\u001b[0m b\u001b]0;title\u0007c\u001b[2Jd';
    for (let cut = 0; cut <= text.length; cut += 1) assert.equal(through(text.slice(0, cut), text.slice(cut)), 'ared bcd', String(cut));
  });

  it('has no controls but line ends and tabs', () => {
    assert.equal(through('a\r\nb\rc\td\u0000\u0008e\u009ff'), 'a\nb\nc\tdef');
    assert.equal(through('a\r', '\nb'), 'a\nb');
  });

  it('puts characters together that were cut', () => {
    const euro = bytes('€');
    assert.equal(through(euro.subarray(0, 1), euro.subarray(1)), '€');
  });

  it('keeps nothing back for ever', () => {
    assert.ok(through(`\u001b[${'1;'.repeat(400)}`, 'x').endsWith('x'));
  });
});

describe('streams', () => {
  const push = (runner: FakeRunner, stream: string, text: string) => runner.notify('stream/data', { stream, channel: 'stdout', data: Buffer.from(text).toString('base64') });

  it('keeps what comes before it is known whose it is', () => {
    const runner = new FakeRunner({ 'stream/ack': () => null });
    const streams = new Streams(runner);
    push(runner, 't1', 'early ');
    let heard = '';
    const claim = streams.claim(ROOT, 't1', (data) => (heard += new TextDecoder().decode(data)));
    push(runner, 't1', 'late');
    push(runner, 't2', 'not mine');
    assert.equal(heard, 'early late');
    claim.dispose();
    streams.dispose();
  });

  it('acknowledges everything, at a pace', async () => {
    let acknowledged = 0;
    const runner = new FakeRunner({ 'stream/ack': ({ bytes: taken }) => ((acknowledged += taken), null) });
    const streams = new Streams(runner);
    const done = new Promise<void>((resolve) => {
      const look = setInterval(() => acknowledged === 300_000 && (clearInterval(look), resolve()), 5);
    });
    const claim = streams.claim(ROOT, 't', () => undefined);
    push(runner, 't', 'x'.repeat(300_000));
    assert.equal(acknowledged, 0, 'not at once');
    await done;
    assert.ok(runner.count('stream/ack') >= 3);
    claim.dispose();
    streams.dispose();
  });
});

describe('files by pieces', () => {
  it('sends a file in pieces that are not too large', async () => {
    const got: Buffer[] = [];
    const runner = new FakeRunner({
      'files/create': () => ({ handle: 'h' }),
      'files/append': ({ data }) => (got.push(Buffer.from(data, 'base64')), null),
      'files/finish': () => null,
    });
    const content = new Uint8Array(MOST_PIECE * 2 + 5).map((_, index) => index % 251);
    await writeFile(runner, ref, '/x', content);
    assert.deepEqual(got.map(({ length }) => length), [MOST_PIECE, MOST_PIECE, 5]);
    assert.deepEqual(new Uint8Array(Buffer.concat(got)), content);
    assert.deepEqual(runner.asked[0]!.params, { root: ROOT, id: 'bw-1', path: '/x', size: content.length });
  });

  it('gives up what it has begun when it fails', async () => {
    const runner = new FakeRunner({ 'files/create': () => ({ handle: 'h' }), 'files/close': () => null });
    await assert.rejects(writeFile(runner, ref, '/x', bytes('a')), /nothing answers files\/append/);
    assert.equal(runner.count('files/close'), 1);
    assert.equal(runner.count('files/finish'), 0);
  });

  it('reads until the end, and no more than was agreed', async () => {
    const pieces = ['ab', 'cd', 'ef'];
    const make = () => {
      let next = 0;
      return new FakeRunner({ 'files/open': () => ({ handle: 'h' }), 'files/read': () => ({ data: Buffer.from(pieces[next]!).toString('base64'), end: (next += 1) === 3 }), 'files/close': () => null });
    };
    assert.equal(Buffer.from(await readFile(make(), ref, '/x', { most: 6 })).toString(), 'abcdef');
    const runner = make();
    await assert.rejects(readFile(runner, ref, '/x', { most: 5 }), TooLarge);
    assert.equal(runner.count('files/close'), 1);
  });
});

describe('addresses of files', () => {
  it('name the provider and the sandbox, also in lower case', () => {
    const { scheme, authority, path, query } = addressOf({ provider: 'modal', id: 'sb-AbC' }, '/a b/ü\n');
    assert.deepEqual([scheme, authority, path, query], ['rl-sandbox', 'modal+sb-AbC', '/a b/ü\n', '']);
    assert.ok(isAuthorityOf('modal+sb-abc', { provider: 'modal', id: 'sb-AbC' }));
    assert.ok(!isAuthorityOf('modal+sb-ab', { provider: 'modal', id: 'sb-AbC' }));
  });

  it('say what of a file is looked at', () => {
    assert.deepEqual(readView(addressOf(ref, '/x', { original: true }).query), { original: true });
    assert.deepEqual(readView(addressOf(ref, '/x', { offset: 5, length: 10 }).query), { offset: 5, length: 10 });
    for (const query of ['', 'x', '1-', '-1-2', '1-2-3', '1e9-2']) assert.equal(readView(query), undefined, query);
  });
});

describe('selected code', () => {
  it('is run by the program of its language', () => {
    assert.deepEqual(commandFor('python', 'print(1)'), ['python3', '-c', 'print(1)']);
    assert.deepEqual(commandFor('shellscript', '#!/usr/bin/env bash\necho 1'), ['bash', '-c', '#!/usr/bin/env bash\necho 1']);
    assert.equal(commandFor('cobol', 'x'), undefined);
    assert.equal(commandFor('constructor', 'x'), undefined);
  });

  it('stands at the left edge', () => {
    assert.equal(dedent('    a\n\n      b\n    c'), 'a\n\n  b\nc');
    assert.equal(dedent('a\n  b'), 'a\n  b');
    assert.equal(dedent('\ta\n    b'), '\ta\n    b');
  });
});

describe('listings of folders', () => {
  it('are told at once as they were, asked for once they are old, and say so when they differ', async () => {
    const entry = (name: string): FileEntry => ({ name, type: 'file', link: false, size: 0, modified: 0, mode: 0 });
    const runner = new FakeRunner({ 'files/list': () => [entry('a')] });
    const changed: string[] = [];
    const listings = new Listings(runner, ({ path }) => changed.push(path));
    const folder = { ...ref, path: '/d', folder: true, size: 0 };
    await listings.list(folder);
    await listings.list(folder);
    assert.equal(runner.count('files/list'), 1);
    listings.forget(folder);
    runner.answers['files/list'] = () => [entry('a'), entry('b')];
    assert.equal((await listings.list(folder)).length, 2);
    listings.keep(() => false);
    await listings.list(folder);
    assert.equal(runner.count('files/list'), 3);
    assert.deepEqual(changed, []);
  });
});

describe('the list of snapshots', () => {
  it('is asked for once, and again after a change', async () => {
    const runner = new FakeRunner({ 'snapshot/list': () => ({ snapshots: [snapshotReport()], totalBytes: 5 }) });
    const snapshots = new Snapshots({ runner, roots: () => [ROOT] });
    await Promise.all([snapshots.list(), snapshots.list()]);
    await snapshots.list();
    assert.equal(runner.count('snapshot/list'), 1);
    runner.notify('changed', { root: ROOT, kind: 'snapshots' });
    await delay(0);
    assert.equal(runner.count('snapshot/list'), 1, 'nobody looks');
    assert.equal(snapshots.known().length, 1, 'what was known stays until there is an answer');
    await snapshots.list();
    assert.equal(runner.count('snapshot/list'), 2);
    assert.equal(snapshots.totalBytes, 5);
    snapshots.dispose();
  });
});
