import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { Rows, RowsQuery } from '../../src/protocol/runView.js';
import { RowSource } from '../../webview/runView/grid/rowSource.js';
import { episodeRecord } from './generate.js';

const ORDER = { filter: '', sort: 'episode', descending: false } as const;

/** A table whose rows are episodes 0, 1, 2, ... from `first` on, and whose answers a test may hold back. */
function table(total: number) {
  const asked: RowsQuery[] = [];
  const state = { total, first: 0, failure: undefined as string | undefined };
  const changes = new EventTarget();
  const rows = (query: RowsQuery): Rows => ({
    total: state.total,
    start: query.start,
    rows: Array.from({ length: Math.max(0, Math.min(query.count, state.total - query.start)) }, (_, index) => episodeRecord(state.first + query.start + index)),
  });
  const source = new RowSource(
    async (query, signal) => {
      asked.push(query);
      await turn();
      signal.throwIfAborted();
      if (state.failure) throw new Error(state.failure);
      return rows(query);
    },
    ORDER,
    () => changes.dispatchEvent(new Event('change')),
  );
  const change = () => new Promise((resolve) => changes.addEventListener('change', resolve, { once: true }));
  return { source, asked, state, change };
}

describe('rows of the table', () => {
  it('are fetched by page, once', async () => {
    const { source, asked, change } = table(20_000);
    await source.renew(0, 30);
    assert.equal(source.total, 20_000);
    assert.equal(source.row(30)?.episode, 30);
    source.want(10_035, 10_065);
    await change();
    assert.equal(source.row(10_060)?.episode, 10_060);
    source.want(10_035, 10_065);
    assert.deepEqual(asked.map(({ start, count }) => [start, count]), [[0, 100], [10_000, 100]]);
  });

  it('that come at the end leave those before them where they are', async () => {
    const { source, asked, state, change } = table(150);
    await source.renew(0, 30);
    assert.equal(source.grow(160), false, 'another order has to be asked for anew');
    await source.reorder({ filter: '', sort: 'finish', descending: false }, 130);
    const before = asked.length;
    const first = source.row(0);
    state.total = 5000;
    assert.equal(source.grow(5000), true);
    assert.deepEqual([source.total, source.row(0), source.row(160)], [5000, first, undefined]);
    source.want(10, 40);
    source.want(110, 140);
    await change();
    assert.equal(source.row(160)?.episode, 160);
    assert.deepEqual(asked.slice(before).map(({ start, count }) => [start, count]), [[100, 100]]);
  });

  it('that are about to come into sight are fetched', async () => {
    const { source, asked, change } = table(20_000);
    await source.renew(0, 30);
    source.want(50, 80);
    await change();
    assert.deepEqual(asked.map(({ start }) => start), [0, 100]);
  });

  it('that were only scrolled past are not fetched', async () => {
    const { source, asked, change } = table(20_000);
    await source.renew(0, 30);
    for (let first = 135; first <= 19_035; first += 300) source.want(first, first + 30);
    await change();
    assert.equal(asked.length, 2);
    assert.ok(source.row(19_035));
  });

  it('that have been left behind are forgotten', async () => {
    const { source, change } = table(20_000);
    await source.renew(0, 30);
    for (let page = 1; page < 60; page++) {
      source.want(page * 100, page * 100 + 30);
      await change();
    }
    assert.equal(source.row(0), undefined);
    assert.ok(source.row(5900));
  });

  it('stay until newer ones are there, and are found at their new place', async () => {
    const { source, state } = table(1000);
    await source.renew(500, 530);
    state.total = 1003;
    state.first = -3;
    const renewal = source.renew(500, 533);
    assert.equal(source.row(500)?.episode, 500);
    await renewal;
    assert.equal(source.row(500)?.episode, 497);
    assert.equal(source.indexOf(500), 503);
  });

  it('of an old order do not come into a new one', async () => {
    const { source, asked } = table(1000);
    const old = source.renew(0, 30);
    await source.reorder({ ...ORDER, sort: 'reward' }, 30);
    await old;
    assert.equal(asked.at(-1)?.sort, 'reward');
    assert.equal(source.order.sort, 'reward');
    assert.equal(source.problem, undefined);
  });

  it('are kept when a request fails, and the failure is said and forgotten', async () => {
    const { source, state } = table(100);
    await source.renew(0, 30);
    state.failure = 'no answer';
    await source.renew(0, 30);
    assert.equal(source.problem, 'no answer');
    assert.equal(source.row(5)?.episode, 5);
    state.failure = undefined;
    await source.renew(0, 30);
    assert.equal(source.problem, undefined);
  });

  it('can be looked for beyond what has been fetched', async () => {
    const { source } = table(1000);
    await source.renew(0, 30);
    assert.equal(await source.locate(450, 400, 470), 450);
    assert.equal(await source.locate(999, 400, 470), undefined);
  });
});
