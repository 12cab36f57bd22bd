import { strict as assert } from 'node:assert';
import { queryRows } from '../../../src/rollout/query.js';
import type { EpisodeRecord } from '../../../src/store/records.js';
import type { RowsQuery, SortKey } from '../../../src/store/statistics.js';
import { record } from './records.js';
import { random } from './random.js';

const timed = (total: number) => ({ restore: 0, act: 0, score: 0, terminate: 0, total });
const RECORDS: readonly EpisodeRecord[] = [
  record(3, { seed: 1, sample: 1, reward: 0.5, timings: timed(100) }),
  record(0, { seed: 0, sample: 0, reward: null, status: 'error', cause: 'SandboxLost: the sandbox is gone', timings: timed(3000), attempts: 3 }),
  record(2, { seed: 1, sample: 0, reward: 0.05, timings: timed(2000), steps: 4 }),
  record(1, { seed: 0, sample: 1, reward: null, cause: 'not-numeric: the last line is "Time: 5 s", not a number', timings: timed(1500) }),
  record(4, { seed: 2, sample: 0, reward: -1, status: 'truncated', cause: 'timeout: the episode ran longer than 60 s', timings: timed(60_000) }),
];

const query = (changes: Partial<RowsQuery>) => queryRows(RECORDS, { filter: '', sort: 'finish', descending: false, start: 0, count: 100, ...changes });
const episodes = (changes: Partial<RowsQuery>) => query(changes).rows.map(({ episode }) => episode);

describe('the filter of the episode table', () => {
  const filters: readonly [string, number[]][] = [
    ['', [3, 0, 2, 1, 4]],
    ['   ', [3, 0, 2, 1, 4]],
    ['status:error', [0]],
    ['status=Error', [0]],
    ['-status:completed', [0, 4]],
    ['cause:timeout', [4]],
    ['cause:NOT', [1]],
    ['cause:number', []],
    ['cause=not', []],
    ['cause=not-numeric', [1]],
    ['-cause:o', [3, 2]],
    ['number', [1]],
    ['-gone', [3, 2, 1, 4]],
    ['LONGER than', [4]],
    ['"the episode"', [4]],
    ['"Time: 5 s"', [1]],
    ['"time:', [1]],
    ['-"the episode"', [3, 0, 2, 1]],
    ['seed:1', [3, 2]],
    ['seed:0..1', [3, 0, 2, 1]],
    ['-seed:0..1', [4]],
    ['episode>=3', [3, 4]],
    ['sample=1 seed:1', [3]],
    ['steps>1', [2]],
    ['attempts:2..3', [0]],
    ['reward<0.1', [2, 4]],
    ['reward<-0.5', [4]],
    ['reward:-1..0.05', [2, 4]],
    ['reward>=.05', [3, 2]],
    ['-reward<0.1', [3, 0, 1]],
    ['reward:none', [0, 1]],
    ['-reward:none', [3, 2, 4]],
    ['reward=5e-2', [2]],
    ['time>2000', [0, 4]],
    ['time>=2s time<1m', [0, 2]],
    ['time:100..2000', [3, 2, 1]],
    ['-', [1]],
  ];
  for (const [filter, expected] of filters) {
    it(JSON.stringify(filter), () => {
      const rows = query({ filter });
      assert.deepEqual(rows.rows.map(({ episode }) => episode), expected);
      assert.equal(rows.total, expected.length);
      assert.equal(rows.filterError, undefined);
    });
  }

  const errors: readonly [string, RegExp][] = [
    ['sead:1', /"sead" is not a field \(status, cause, reward, seed.*put text in quotes: "sead:1"/],
    ['toString:1', /"toString" is not a field/],
    ['status:broken', /"broken" is not a status \(completed, truncated, error, cancelled\)/],
    ['status>error', /"status" has no order/],
    ['cause<a', /"cause" has no order/],
    ['seed:abc', /"abc" is not a number or a range: write seed:1, seed:1..5 or seed<5/],
    ['seed:1..', /not a number or a range/],
    ['seed:1..2..3', /not a number or a range/],
    ['seed<1..2', /not a number or a range/],
    ['reward:nan', /not a number/],
    ['reward<none', /not a number/],
    ['reward:0x1', /not a number/],
    ['seed>2s', /not a number/],
    ['seed:', /"seed:" has no value/],
    ['reward<""', /has no value/],
  ];
  for (const [filter, message] of errors) it(`says what is wrong with ${filter}`, () => assert.match(query({ filter }).filterError ?? '', message));

  it('leaves out a term that it does not understand, and keeps the others', () => {
    const rows = query({ filter: 'status:error sead:1 seed:' });
    assert.deepEqual(rows.rows.map(({ episode }) => episode), [0]);
    assert.match(rows.filterError!, /sead/);
  });
});

describe('the order of the episode table', () => {
  const orders: readonly [SortKey, boolean, number[]][] = [
    ['finish', false, [3, 0, 2, 1, 4]],
    ['finish', true, [4, 1, 2, 0, 3]],
    ['episode', false, [0, 1, 2, 3, 4]],
    ['seed', false, [0, 1, 3, 2, 4]],
    ['seed', true, [4, 3, 2, 0, 1]],
    ['sample', true, [3, 1, 0, 2, 4]],
    ['status', false, [3, 2, 1, 0, 4]],
    ['reward', false, [4, 2, 3, 0, 1]],
    ['reward', true, [3, 2, 4, 0, 1]],
    ['steps', true, [2, 3, 0, 1, 4]],
    ['time', false, [3, 1, 2, 0, 4]],
    ['cause', false, [0, 1, 4, 3, 2]],
    ['cause', true, [4, 1, 0, 3, 2]],
  ];
  for (const [sort, descending, expected] of orders) it(`by ${sort}${descending ? ', descending' : ''}`, () => assert.deepEqual(episodes({ sort, descending }), expected));

  it('is the same through every window', () => {
    const next = random(4);
    const records = Array.from({ length: 500 }, (_, episode) => record(episode, { reward: next(5) ? next(7) / 7 : null, cause: next(3) ? undefined : `code${next(4)}: x`, steps: next(3) }));
    for (const sort of ['finish', 'episode', 'status', 'reward', 'steps', 'cause'] as const)
      for (const descending of [false, true]) {
        const all = queryRows(records, { filter: 'episode<490', sort, descending, start: 0, count: 1000 }).rows;
        assert.equal(new Set(all).size, 490);
        const pieces: EpisodeRecord[] = [];
        for (let start = 0; start < 490; start += 37) pieces.push(...queryRows(records, { filter: 'episode<490', sort, descending, start, count: 37 }).rows);
        assert.deepEqual(pieces, all, `${sort} ${descending}`);
      }
  });
});

describe('a window of the episode table', () => {
  it('is what was asked for, and where', () => {
    const rows = query({ sort: 'episode', start: 1, count: 2 });
    assert.deepEqual([rows.total, rows.start, rows.rows.map(({ episode }) => episode)], [5, 1, [1, 2]]);
  });

  for (const [start, count, expected] of [[4, 10, 1], [5, 10, 0], [99, 10, 0], [-3, 2, 2], [0, 0, 0], [0, -1, 0], [NaN, 2, 2], [0, NaN, 0], [0, Infinity, 5], [1.5, 2, 2]] as const)
    it(`from ${start} of ${count} has ${expected} rows`, () => assert.equal(query({ start, count }).rows.length, expected));

  it('of no records is empty', () => assert.deepEqual(queryRows([], { filter: '', sort: 'reward', descending: true, start: 0, count: 10 }), { total: 0, start: 0, rows: [] }));
});
