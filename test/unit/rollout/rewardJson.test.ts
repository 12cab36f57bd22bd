import { strict as assert } from 'node:assert';
import { parseRewardJson, pickReward } from '../../../src/rollout/rewards/json.js';
import { assertFails } from './failures.js';
import { random } from './random.js';

const parse = (text: string) => parseRewardJson(text, 'reward.json');

describe('reward.json', () => {
  it('is a number', () => {
    assert.equal(parse(' 0.5\n'), 0.5);
    assert.equal(parse('-1e3'), -1000);
    assert(Object.is(parse('-0'), 0));
  });

  it('is named numbers, in their order', () => {
    assert.deepEqual(parse('{ "b" : 1, "2": 0.5,\r\n"1": -2e-1 }'), [
      { name: 'b', value: 1 },
      { name: '2', value: 0.5 },
      { name: '1', value: -0.2 },
    ]);
  });

  it('may have any key', () => {
    assert.deepEqual(parse('{"__proto__": 1, "constructor": 2, "a \\"b\\" \\u00e9.C": 3}'), [
      { name: '__proto__', value: 1 },
      { name: 'constructor', value: 2 },
      { name: 'a "b" é.C', value: 3 },
    ]);
    assert.equal(({} as Record<string, unknown>).a, undefined);
  });

  it('leaves no lone surrogate in a key', () => {
    assert.deepEqual(parse('{"\\ud800x": 1, "\\ud83d\\ude00": 2}'), [
      { name: '\ufffdx', value: 1 },
      { name: '😀', value: 2 },
    ]);
  });

  const refused: readonly [string, string, RegExp][] = [
    ['', 'empty', /is empty/],
    [' \n', 'empty', /is empty/],
    ['{}', 'empty', /names no value/],
    ['{"a": NaN}', 'not-finite', /"a" in reward.json is NaN; a reward must be finite/],
    ['{"a": Infinity}', 'not-finite', /Infinity/],
    ['{"a": -Infinity}', 'not-finite', /-Infinity/],
    ['NaN', 'not-finite', /reward.json is NaN/],
    ['{"a": 1e999}', 'not-finite', /beyond what a double can hold/],
    ['{"a": "0.5"}', 'not-numeric', /"a" in reward.json is text, not a number/],
    ['{"a": true}', 'not-numeric', /"a" in reward.json is true, not a number/],
    ['{"a": null}', 'not-numeric', /is null, not a number/],
    ['{"a": {"b": 1}}', 'not-numeric', /is an object, not a number/],
    ['{"a": [1]}', 'not-numeric', /is a list, not a number/],
    ['[0.5]', 'not-numeric', /reward.json is a list/],
    ['"0.5"', 'not-numeric', /reward.json is text/],
    ['null', 'not-numeric', /reward.json is null/],
    ['{"a": 1, "a": 1}', 'conflicting', /the key "a" twice/],
    ['{"a": 1, "\\u0061": 2}', 'conflicting', /the key "a" twice/],
    ['{"\\ud800": 1, "\\ud801": 2}', 'conflicting', /twice/],
    ['{"a": 1', 'not-numeric', /is not JSON: expected "}" at character 8/],
    ['{"a": 1}{', 'not-numeric', /expected its end at character 9/],
    ['{"a": 1,}', 'not-numeric', /is not JSON: expected a key/],
    ["{'a': 1}", 'not-numeric', /is not JSON: expected a key/],
    ['{"a" 1}', 'not-numeric', /expected ":"/],
    ['{"a": 01}', 'not-numeric', /expected a number/],
    ['{"a": +1}', 'not-numeric', /expected a number/],
    ['{"a": .5}', 'not-numeric', /expected a number/],
    ['{"a": 5.}', 'not-numeric', /expected a number/],
    ['{"a": 0x1}', 'not-numeric', /expected a number/],
    ['{"a": 1.5.5}', 'not-numeric', /expected a number/],
    ['{"a\nb": 1}', 'not-numeric', /is not JSON/],
    ['{"\\x": 1}', 'not-numeric', /expected a valid escape at character 2/],
    ['reward: 0.5', 'not-numeric', /is not JSON: expected a number at character 1/],
    [`{"${'k'.repeat(201)}": 1}`, 'too-large', /more than 200 characters/],
    [`{"${'k'.repeat(1 << 20)}": 1}`, 'not-numeric', /at most 200 characters/],
    [`{${Array.from({ length: 1001 }, (_, index) => `"${index}":1`).join()}}`, 'too-large', /more than 1000 values/],
    ['['.repeat(1 << 20), 'not-numeric', /is a list/],
  ];
  for (const [text, code, message] of refused) it(`refuses ${JSON.stringify(text.slice(0, 40))}: ${code}`, () => assertFails(() => parse(text), code, message));

  it('takes exactly what JSON.parse takes, where all values are numbers and no key comes twice', () => {
    const pieces = ['{', '}', '"a"', '"b"', ':', ',', ' ', '1', '-2.5e1', '0', '01', '.', 'e', '\n', '"', '\\'];
    const next = random(1);
    for (let round = 0; round < 20_000; round++) {
      const text = round % 2 ? `{"a":${Array.from({ length: next(4) }, () => pieces[next(pieces.length)]).join('')}}` : Array.from({ length: next(9) }, () => pieces[next(pieces.length)]).join('');
      const [ours, theirs] = [attempt(() => parse(text)), attempt(() => JSON.parse(text) as unknown)];
      if (ours !== undefined) assert.deepEqual(typeof ours === 'number' ? ours : Object.fromEntries(ours.map(({ name, value }) => [name, value])), theirs, text);
      else if (Number.isFinite(theirs)) assert.fail(`refused ${text}`);
      else if (isFlat(theirs) && (text.match(/"a"/g)?.length ?? 0) < 2 && (text.match(/"b"/g)?.length ?? 0) < 2) assert.fail(`refused ${text}`);
    }
  });
});

const isFlat = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length > 0 && Object.values(value).every(Number.isFinite);

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

describe('the reward among named numbers', () => {
  const named = (values: Record<string, number>) => Object.entries(values).map(([name, value]) => ({ name, value }));

  it('is the one named reward; the others stand beside it', () => {
    assert.deepEqual(pickReward(named({ style: 0.2, reward: 0.7 }), 'it'), { value: 0.7, others: [{ name: 'style', value: 0.2 }] });
  });

  it('is the only one', () => assert.deepEqual(pickReward(named({ score: 0.7 }), 'it'), { value: 0.7, others: [] }));

  it('is not guessed among several', () => {
    assertFails(() => pickReward(named({ a: 1, b: 2 }), 'reward.json'), 'conflicting', /names 2 values \("a", "b"\), and none of them is "reward": add "reward"/);
  });
});
