/** What a window knows of runs while a busy engine answers late, out of order, or of a moment that is over. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { Runs } from '../../../src/extension/runs.js';
import { RunnerError } from '../../../src/runner/client.js';
import type { RunSummary } from '../../../src/runner/api.js';
import type { RunSnapshot } from '../../../src/protocol/runView.js';
import { sees } from '../../support/sees.js';
import { FakeRunner } from './fakeRunner.js';
import { ROOT, run, summary } from './samples.js';

const ref = { root: ROOT, id: run().id };
const running = summary({ finished: 0, running: 1 }, { state: 'running' });
const done = summary({ finished: 1 });

const snapshotOf = ({ run, running, finished, mean, ci95, episodesPerSecond }: RunSummary) =>
  ({ run, running, finished, episodesPerSecond, counts: { error: 0 }, stats: { unscored: 0, mean, ci95 } }) as unknown as RunSnapshot;

/** Questions that a test answers when it likes, in the order that it likes. */
function questions<T>() {
  const waiting: { answer(value: T): void; fail(error: Error): void }[] = [];
  const ask = () => new Promise<T>((answer, fail) => waiting.push({ answer, fail }));
  const next = async () => {
    await sees(() => waiting.length > 0, true);
    return waiting.shift()!;
  };
  return { ask, next };
}

function build() {
  const lists = questions<RunSummary[]>();
  const snapshots = questions<RunSnapshot>();
  const runner = new FakeRunner({ 'run/list': lists.ask, 'run/snapshot': snapshots.ask });
  const runs = new Runs({ runner, roots: () => [ROOT], log: () => undefined, figuresMs: 10 });
  const states = () => runs.known().map(({ summary: { run } }) => run.state);
  return { lists, snapshots, runner, runs, states };
}

/** As above, with one run that goes on. */
async function following() {
  const built = build();
  const listed = built.runs.list();
  (await built.lists.next()).answer([running]);
  await listed;
  return built;
}

describe('runs as a window knows them', () => {
  it('are listed again when they change while a list is on its way', async () => {
    const { lists, runner, states } = await following();
    runner.notify('changed', { root: ROOT, kind: 'runs' });
    const before = await lists.next();
    await turn();
    runner.notify('changed', { root: ROOT, kind: 'runs' });
    await turn();
    before.answer([running]);
    await sees(states, ['running']);
    (await lists.next()).answer([done]);
    await sees(states, ['done']);
  });

  it('are not set back by a list that was asked for before their end was known', async () => {
    const { lists, snapshots, runner, runs, states } = await following();
    runner.notify('changed', { root: ROOT, kind: 'runs' });
    const list = await lists.next();
    const fetched = runs.fetch(ref);
    (await snapshots.next()).answer(snapshotOf(done));
    await fetched;
    list.answer([running]);
    await turn();
    assert.deepEqual(states(), ['done']);
  });

  it('are not set back by an answer that overtakes another', async () => {
    const { snapshots, runs, states } = await following();
    const early = runs.fetch(ref);
    const late = runs.fetch(ref);
    const first = await snapshots.next();
    (await snapshots.next()).answer(snapshotOf(done));
    await late;
    first.answer(snapshotOf(running));
    assert.equal((await early).run.state, 'done');
    assert.deepEqual(states(), ['done']);
  });

  it('are asked for again where an engine did not answer in time', async () => {
    const { lists, snapshots, runner, states } = await following();
    runner.notify('changed', { ...ref, kind: 'run' });
    (await snapshots.next()).fail(new RunnerError('late', { code: 'Timeout' }));
    (await snapshots.next()).answer(snapshotOf(done));
    await sees(states, ['done']);
    runner.notify('changed', { root: ROOT, kind: 'runs' });
    (await lists.next()).fail(new RunnerError('late', { code: 'Timeout' }));
    (await lists.next()).answer([]);
    await sees(states, []);
  });
});
