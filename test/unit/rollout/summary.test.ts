import { strict as assert } from 'node:assert';
import { RunAggregate } from '../../../src/rollout/summary.js';
import { record } from './records.js';
import { random } from './random.js';

describe('a run in figures', () => {
  it('of no episodes is all zero and null', () => {
    const figures = new RunAggregate().snapshot();
    assert.equal(figures.finished, 0);
    assert.deepEqual(figures.counts, { completed: 0, truncated: 0, error: 0, cancelled: 0 });
    assert.equal(figures.histogram, null);
    assert.deepEqual(figures.series, { x: [], reward: [], runningMean: [] });
    assert.deepEqual(figures.failures, []);
  });

  it('counts by status, sums times, and keeps episodes without a reward out of the mean', () => {
    const run = new RunAggregate();
    run.add(record(0, { reward: 0.5 }));
    run.add(record(1, { reward: 1, status: 'truncated', cause: 'timeout: it took too long' }));
    run.add(record(2, { reward: null, status: 'error', cause: 'SandboxLost: it is gone' }));
    run.add(record(3, { reward: null, cause: 'not-numeric: "abc" is not a number' }));
    const figures = run.snapshot();
    assert.equal(figures.finished, 4);
    assert.deepEqual(figures.counts, { completed: 2, truncated: 1, error: 1, cancelled: 0 });
    assert.deepEqual([figures.stats.scored, figures.stats.unscored, figures.stats.mean], [2, 2, 0.75]);
    assert.deepEqual(figures.time, { restore: 4, act: 8, score: 12, terminate: 16 });
    assert.deepEqual(figures.series.reward, [0.5, 1, null, null]);
  });

  it('groups failures by code and status, the most frequent first, with the first one as example', () => {
    const run = new RunAggregate();
    run.add(record(0, { reward: null, cause: 'missing: a' }));
    run.add(record(1, { reward: null, status: 'error', cause: 'SandboxLost: first: of two' }));
    run.add(record(2, { reward: null, status: 'error', cause: 'SandboxLost: second' }));
    run.add(record(3, { reward: null, status: 'truncated', cause: 'missing: b' }));
    assert.deepEqual(run.snapshot().failures, [
      { code: 'SandboxLost', status: 'error', count: 2, example: 'SandboxLost: first: of two' },
      { code: 'missing', status: 'completed', count: 1, example: 'missing: a' },
      { code: 'missing', status: 'truncated', count: 1, example: 'missing: b' },
    ]);
  });

  it('has a snapshot that later episodes do not change, and a revision that they do', () => {
    const run = new RunAggregate();
    run.add(record(0, { reward: 0, cause: 'x: y' }));
    const before = run.snapshot();
    const copy = structuredClone(before);
    assert.equal(run.snapshot(), before);
    for (let episode = 1; episode < 1000; episode++) run.add(record(episode, { reward: 5, cause: 'x: y' }));
    assert.deepEqual(before, copy);
    assert.equal(run.snapshot().finished, 1000);
    assert(run.snapshot().revision > before.revision);
  });

  it('has statistics that do not depend on the order in which episodes finish, to the last digit', () => {
    const next = random(9);
    const rewards = Array.from({ length: 777 }, () => next(1000) / 997);
    const [one, other] = [new RunAggregate(), new RunAggregate()];
    rewards.forEach((reward, episode) => one.add(record(episode, { reward })));
    rewards.map((reward, episode) => ({ reward, at: next(1e6), episode })).sort((a, b) => a.at - b.at).forEach(({ reward, episode }) => other.add(record(episode, { reward })));
    assert.deepEqual(one.snapshot().stats, other.snapshot().stats);
    assert.deepEqual(one.snapshot().histogram, other.snapshot().histogram);
  });

  it('has the same statistics whether one looks in between or not', () => {
    const next = random(6);
    const [watched, unwatched] = [new RunAggregate(), new RunAggregate()];
    for (let episode = 0; episode < 2000; episode++) {
      const reward = next(8) ? next(50) / 7 : null;
      watched.add(record(episode, { reward }));
      unwatched.add(record(episode, { reward }));
      if (next(20) === 0) watched.snapshot();
    }
    assert.deepEqual(watched.snapshot(), unwatched.snapshot());
  });

  it('is plain JSON', () => {
    const run = new RunAggregate();
    for (let episode = 0; episode < 50; episode++) run.add(record(episode, { reward: episode % 3 ? episode / 7 : null }));
    assert.deepEqual(JSON.parse(JSON.stringify(run.snapshot())), run.snapshot());
  });
});

describe('components of a run', () => {
  it('add up to the mean reward, and leave out episodes without one', () => {
    const run = new RunAggregate();
    const part = (name: string, weight: number, value: number | null) => ({ name, weight, value });
    run.add(record(0, { reward: 0.9, components: [part('tests', 0.8, 1), part('style', 0.2, 0.5)] }));
    run.add(record(1, { reward: 0.4, components: [part('tests', 0.8, 0.5)] }));
    run.add(record(2, { reward: null, components: [part('tests', 0.8, 1), part('style', 0.2, null)] }));
    const { components, stats } = run.snapshot();
    assert.deepEqual(components.map(({ name, count, mean }) => [name, count, mean]), [['tests', 2, 0.75], ['style', 1, 0.5]]);
    assert(Math.abs(components.reduce((sum, { contribution }) => sum + contribution!, 0) - stats.mean!) < 1e-12);
  });

  it('are no more than can be told apart, whatever a verifier calls them', () => {
    const run = new RunAggregate();
    for (let episode = 0; episode < 100; episode++) run.add(record(episode, { components: [{ name: `part ${episode}`, weight: 1, value: 1 }] }));
    assert.equal(run.snapshot().components.length, 32);
  });
});
