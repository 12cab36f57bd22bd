import assert from 'node:assert/strict';
import { MemoryBytes } from '../../../src/trace/bytes.js';
import { readJson } from '../../../src/trace/json/prune.js';
import { JsonScanner, Outline, type Found } from '../../../src/trace/json/scan.js';
import { parseJson } from '../../../src/trace/json/tolerant.js';
import { random } from '../../support/traces/random.js';

const STRINGS = ['', 'a', '"', '\\', '\\"', '{"a":[1,2]}', ']}', 'é', '日本', '😀', '\ud83d', '\u0000\u001f', 'NaN', 'steps', '\n'];

/** A value of any shape. */
function anything(next: () => number, depth: number): unknown {
  const kind = Math.floor(next() * (depth > 0 ? 7 : 5));
  if (kind === 0) return STRINGS[Math.floor(next() * STRINGS.length)]! + STRINGS[Math.floor(next() * STRINGS.length)]!;
  if (kind === 1) return [0, -1.5, 1e21, 3][Math.floor(next() * 4)];
  if (kind === 2) return next() < 0.5;
  if (kind === 3) return null;
  if (kind === 4) return [];
  const size = Math.floor(next() * 4);
  if (kind === 5) return Array.from({ length: size }, () => anything(next, depth - 1));
  return Object.fromEntries(Array.from({ length: size }, (_, index) => [`${STRINGS[Math.floor(next() * STRINGS.length)]}${index}`, anything(next, depth - 1)]));
}

/** All values with their paths, as a parser that holds everything would give them. */
function flatten(value: unknown, path: readonly (string | number)[] = []): [string, unknown][] {
  const inner = Array.isArray(value) ? value.map((one, index) => [index, one] as const) : value && typeof value === 'object' ? Object.entries(value) : [];
  return [...inner.flatMap(([key, one]) => flatten(one, [...path, key])), [JSON.stringify(path), value]];
}

function scan(pieces: readonly Buffer[], enter: (path: readonly (string | number)[]) => boolean): Map<string, Found> {
  const found = new Map<string, Found>();
  const scanner = new JsonScanner({ enter, found: (path, value) => void found.set(JSON.stringify(path), value) });
  let at = 0;
  for (const piece of pieces) {
    scanner.feed(piece, at);
    at += piece.length;
  }
  scanner.finish(at);
  return found;
}

describe('JSON by paths', () => {
  it('finds every value of any document, cut into pieces anywhere', () => {
    const next = random(7);
    for (let round = 0; round < 300; round += 1) {
      const value = anything(next, 5);
      const text = Buffer.from(JSON.stringify(value, null, round % 3));
      const cuts = round % 10 === 0 ? Array.from({ length: text.length + 1 }, (_, index) => index) : [0, Math.floor(next() * text.length), text.length];
      const whole = scan(cuts.slice(1).map((cut, index) => text.subarray(Math.min(cuts[index]!, cut), cut)), () => true);
      const expected = flatten(value);
      assert.equal(whole.size, new Map(expected).size);
      for (const [path, one] of expected) {
        const found = whole.get(path)!;
        assert.deepEqual(JSON.parse(text.subarray(found.start, found.end).toString()), JSON.parse(JSON.stringify(one)), path);
        if (found.type === 'scalar') assert.deepEqual(found.value, JSON.parse(JSON.stringify(one)));
      }
    }
  });

  it('gives the same, split in two at every byte', () => {
    const text = Buffer.from('{"a\\"b":[{"x":"\\\\","é":[[],{}]},-1.5e3,"\\ud83d😀"],"n":[NaN,-Infinity,true,null]}');
    const expected = [...scan([text], () => true)];
    for (let cut = 0; cut <= text.length; cut += 1) assert.deepEqual([...scan([text.subarray(0, cut), text.subarray(cut)], () => true)], expected);
  });

  it('passes over nesting of any depth and damage of any kind', () => {
    const deep = Buffer.from(`{"steps":[${'['.repeat(1_000_000)}${']'.repeat(1_000_000)},{"a":1}],"after":2}`);
    const found = scan([deep], (path) => path.length < 2);
    assert.deepEqual([found.get('["steps",1]')?.type, found.get('["after"]')?.value], ['object', 2]);
    const next = random(3);
    const good = Buffer.from(JSON.stringify({ steps: [{ a: 'b"c', d: [1, { e: null }] }, 2], z: 'x' }));
    for (let round = 0; round < 2000; round += 1) {
      const bad = Buffer.from(good);
      for (let hit = 0; hit < 3; hit += 1) bad[Math.floor(next() * bad.length)] = Math.floor(next() * 256);
      scan([bad.subarray(0, Math.floor(next() * bad.length)), bad], () => true);
    }
  });

  it('finds what is whole in a document that was cut off', async () => {
    const text = Buffer.from('{"steps":[{"n":1},{"n":2},{"n":');
    const outline = await Outline.of(new MemoryBytes(text), { start: 0, end: text.length }, ['', 'steps.*', 'steps.*.n']);
    assert.deepEqual([outline.whole, outline.all('steps.*').length, outline.all('steps.*.n').map(({ value }) => value)], [false, 2, [1, 2]]);
  });

  it('takes NaN and infinities for texts, but not inside of texts', () => {
    assert.deepEqual(parseJson('{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN \\"NaN"}'), { a: 'NaN', b: ['-Infinity', 'Infinity'], c: 'NaN "NaN' });
    assert.throws(() => parseJson('{"a":Nan}'), SyntaxError);
  });

  it('cuts long texts, long lists and deep nesting, and what is left is JSON', async () => {
    const read = async (text: string, options = {}): Promise<{ value: unknown; cut: number }> => readJson(new MemoryBytes(Buffer.from(text)), { start: 0, end: Buffer.byteLength(text) }, { whole: 0, ...options });
    const next = random(11);
    for (let round = 0; round < 200; round += 1) {
      const value = JSON.parse(JSON.stringify(anything(next, 5))) as unknown;
      assert.deepEqual((await read(JSON.stringify(value))).value, value, 'what is small stays as it is');
    }
    const long = (await read(JSON.stringify({ a: 'é\\"'.repeat(1 << 20), b: 1 }))) as { value: { a: string; b: number }; cut: number };
    assert.match(long.value.a, /^(é\\")+é?\\?… \[\d+ bytes left out\]$/);
    assert.deepEqual([long.value.b, long.cut > 3 << 20], [1, true]);
    for (let shift = 0; shift < 8; shift += 1) assert.match(String((await read(JSON.stringify('x'.repeat(shift) + '\u0001'.repeat(1 << 17)))).value), /bytes left out\]$/, 'no escape is cut in two');
    const many = (await read(JSON.stringify({ a: { b: Array.from({ length: 2_000_000 }, (_, index) => index) }, c: 1 }))) as { value: { a: { b: unknown[] } } };
    assert.match(String(many.value.a.b.at(-1)), /the rest is left out/);
    const deep = (await read(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)},"b":2}`)) as { value: { b: number } };
    assert.equal(deep.value.b, 2);
    assert.deepEqual((await read('{"prompt_token_ids":[1,[2],"]"],"x":{"logprobs":[{"a":1}]},"y":[3]}', { drop: new Set(['prompt_token_ids', 'logprobs']) })).value, { prompt_token_ids: [], x: { logprobs: [] }, y: [3] });
    assert.deepEqual((await read('{"a":1},{"a":2}', { elements: true })).value, [{ a: 1 }, { a: 2 }]);
  });
});
