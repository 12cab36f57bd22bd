import assert from 'node:assert/strict';
import { describe as describeKey, keysAt, valuesAt } from '../../../src/template/complete.js';

const names = (...args: Parameters<typeof keysAt>) => keysAt(...args).map((key) => key.name);

describe('completion and hover', () => {
  it('knows the keys of the root, each with a description', () => {
    const keys = keysAt([]);
    assert.deepEqual(
      keys.filter((key) => key.required).map((key) => key.name),
      ['name', 'episode'],
    );
    for (const key of keys) assert.ok(key.description, key.name);
  });

  it('goes down into maps, lists and all branches of a union', () => {
    assert.deepEqual(names(['resources']), ['cpu', 'memory', 'gpu', 'pids', 'disk']);
    assert.deepEqual(names(['resources', 'gpu']), ['count', 'model', 'ids', 'share']);
    assert.deepEqual(names(['setup', 0]), ['run', 'python', 'timeout']);
    assert.deepEqual(names(['setup', '3']), ['run', 'python', 'timeout']);
    assert.deepEqual(names(['network']), ['setup', 'episode', 'allow']);
    for (const path of [['reward'], ['reward', 2]]) assert.ok(names(path).includes('command'));
  });

  it('keeps to the keys of a reward whose type is known', () => {
    assert.deepEqual(names(['reward'], 'scorer'), ['type', 'command', 'files', 'name', 'weight', 'timeout']);
    assert.ok(!names(['reward', 0], 'stdout').includes('path'));
    assert.ok(names(['reward', 0], 'unheard-of').includes('path'));
  });

  it('has no keys where there is no map', () => {
    for (const path of [['name'], ['nowhere'], ['env'], ['env', 'A'], ['setup'], ['__proto__'], ['constructor'], ['reward_range', 5]]) assert.deepEqual(names(path), [], String(path));
  });

  it('knows the settings of each policy by its name', () => {
    const settings = (type?: string) => keysAt(['policy'], type).map(({ name }) => name);
    assert.ok(settings('gym').includes('env') && !settings('gym').includes('base_url'));
    assert.ok(settings('llm').includes('base_url') && !settings('llm').includes('env'));
    assert.deepEqual(keysAt(['policy']).find(({ name }) => name === 'name')!.values.map(({ value }) => value), ['script', 'oracle', 'noop', 'manual', 'llm', 'gym', 'command']);
    assert.match(describeKey(['policy', 'max_turns'], 'llm')!, /Most replies of an episode/);
  });

  it('offers the values that are known', () => {
    assert.deepEqual(
      valuesAt(['reward']).map(({ value }) => value),
      ['stdout', 'exit_code', 'files', 'return'],
    );
    assert.deepEqual(
      valuesAt(['network', 'setup']).map(({ value }) => value),
      ['none', 'full'],
    );
    const types = keysAt(['reward', 0]).find((key) => key.name === 'type')!.values;
    assert.equal(types.length, 9);
    for (const type of types) assert.ok(type.description, type.value);
    assert.deepEqual(
      valuesAt(['resources', 'gpu']).map(({ value }) => value),
      ['all'],
    );
  });

  it('describes keys with their values and defaults', () => {
    assert.match(describeKey(['episode', 'timeout'])!, /^How long an episode may act\.[^]*Default: `60s`$/);
    assert.match(describeKey(['name'])!, /Required\.$/);
    assert.match(describeKey(['reward', 0, 'type'])!, /- `diff`: How close/);
    assert.match(describeKey(['reward', 0])!, /component/);
    assert.equal(describeKey(['nowhere']), undefined);
    assert.equal(describeKey(['env', 'A']), undefined);
  });
});
