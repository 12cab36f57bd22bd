import assert from 'node:assert/strict';
import { nextDifference } from '../../../src/engine/compareTraces.js';
import { MOST_ALIGNED, MOST_PAIRED, alignTraces, commonActions } from '../../../src/trace/align.js';
import type { StepDetail, TraceReader } from '../../../src/trace/model.js';

interface Made {
  readonly does: string;
  readonly sees?: string;
  readonly earns?: number;
}

const detail = ({ does, sees = '', earns }: Made, index: number): StepDetail => ({
  index,
  label: String(index),
  source: 'agent',
  kind: 'tool',
  title: does,
  at: index * 1000 + does.length,
  ms: 10 + index,
  calls: [{ id: `call-${Math.random()}`, name: 'bash', arguments: { command: does, timeout: 1 }, result: [{ type: 'terminal', text: sees }] }],
  ...(earns !== undefined && { reward: earns }),
});

/** A reader of steps that are made when they are asked for; `read` counts how many were. */
function reader(steps: readonly Made[] | { readonly count: number; readonly make: (index: number) => Made }): { reader: TraceReader; read: () => number } {
  let asked = 0;
  const [count, make] = 'count' in steps ? [steps.count, steps.make] : [steps.length, (index: number) => steps[index]!];
  const step = (index: number) => {
    asked++;
    return Promise.resolve(detail(make(index), index));
  };
  return { reader: { head: () => Promise.resolve({ steps: count }), step } as unknown as TraceReader, read: () => asked };
}

const trace = (text: string): Made[] => [...text].map((does) => ({ does }));
const aligned = async (a: readonly Made[], b: readonly Made[]) => (await alignTraces(reader(a).reader, reader(b).reader)).rows;
/** `ab|ac`: a row with another action; `a-`: a step without counterpart; `a=`: the same. */
const drawn = async (a: string, b: string) => (await aligned(trace(a), trace(b))).map((row) => `${row.a === null ? '' : a[row.a]}${row.b === null ? '' : b[row.b]}${row.a === null ? '+' : row.b === null ? '-' : row.differs.includes('action') ? '!' : '='}`).join(' ');

describe('alignment of two traces', () => {
  it('pairs steps as they come until one does something else, then by the actions that both took', async () => {
    assert.equal(await drawn('abc', 'abc'), 'aa= bb= cc=');
    assert.equal(await drawn('abcd', 'abxcd'), 'aa= bb= x+ cc= dd=');
    assert.equal(await drawn('abxcd', 'abcd'), 'aa= bb= x- cc= dd=');
    assert.equal(await drawn('abxyd', 'abzd'), 'aa= bb= xz! y- dd=');
    assert.equal(await drawn('ab', 'abcd'), 'aa= bb= c+ d+');
    assert.equal(await drawn('', 'a'), 'a+');
    assert.equal(await drawn('', ''), '');
  });

  it('finds a longest common subsequence, as a search through all of them does', () => {
    const longest = (a: string, b: string): number => (a === '' || b === '' ? 0 : a[0] === b[0] ? 1 + longest(a.slice(1), b.slice(1)) : Math.max(longest(a.slice(1), b), longest(a, b.slice(1))));
    for (const [a, b] of [['abcbdab', 'bdcaba'], ['xmjyauz', 'mzjawxu'], ['aaaa', 'aa'], ['abc', 'def'], ['', 'a']] as const) {
      const places = commonActions([...a], [...b]);
      assert.equal(places.length, longest(a, b), `${a} ${b}`);
      places.forEach(([row, column], index) => assert.ok(a[row] === b[column] && (index === 0 || (row > places[index - 1]![0] && column > places[index - 1]![1]))));
    }
  });

  it('says in what steps of the same action differ, and not that they took other times or had other names', async () => {
    const [same, seen, earned] = await aligned([{ does: 'a' }, { does: 'b', sees: '1' }, { does: 'c', earns: 0 }], [{ does: 'a' }, { does: 'b', sees: '2' }, { does: 'c', earns: 1 }]);
    assert.deepEqual([same!.differs, seen!.differs, earned!.differs], [[], ['observation'], ['reward']]);
  });

  it('looks at so many steps and no more, however long the traces are, and says at how many', async () => {
    const [a, b] = [reader({ count: 1_000_000, make: (index) => ({ does: index < 50 ? 'same' : `a${index}` }) }), reader({ count: 1_000_000, make: (index) => ({ does: index < 50 ? 'same' : `b${index}` }) })];
    const { compared, rows } = await alignTraces(a.reader, b.reader);
    assert.deepEqual(compared, { a: 50 + MOST_ALIGNED, b: 50 + MOST_ALIGNED });
    assert.equal(rows.length, 50 + MOST_ALIGNED);
    assert.ok(a.read() <= 51 + MOST_ALIGNED && b.read() <= 51 + MOST_ALIGNED);
    const equal = () => reader({ count: MOST_PAIRED + 1, make: () => ({ does: 'same' }) }).reader;
    assert.deepEqual((await alignTraces(equal(), equal())).compared, { a: MOST_PAIRED, b: MOST_PAIRED });
  });

  it('goes from one stretch of differences to the next, in either direction, and over those of observations if asked', async () => {
    const rows = await aligned([{ does: 'a' }, { does: 'b', sees: '1' }, { does: 'c' }, { does: 'x' }, { does: 'y' }, { does: 'd' }], [{ does: 'a' }, { does: 'b', sees: '2' }, { does: 'c' }, { does: 'u' }, { does: 'v' }, { does: 'd' }]);
    const from = (at: number, direction: 1 | -1, actions = false) => nextDifference(rows, { from: at, direction, actions });
    assert.deepEqual([from(0, 1), from(1, 1), from(3, 1)], [1, 3, null]);
    assert.deepEqual([from(5, -1), from(3, -1), from(1, -1)], [3, 1, null]);
    assert.deepEqual([from(0, 1, true), from(3, -1, true)], [3, null]);
  });
});
