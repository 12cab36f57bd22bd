/** What is said of runs that somebody carried out who is gone. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Engine } from '../../../src/engine/engine.js';
import { run } from '../extension/samples.js';

/** No process has this number and began at that time. */
const GONE = '1:1:another-boot';

describe('a run whose owner is gone', () => {
  let root: string;
  before(async () => (root = await mkdtemp(join(tmpdir(), 'gone-'))));
  after(() => rm(root, { recursive: true, force: true }));

  it('is interrupted, unless its end was written between a look at it and a look at its owner', async () => {
    const engine = await Engine.open({ root });
    const record = await engine.runs.create(run({ state: 'running', owner: GONE }));
    const states = async () => (await engine.list()).map(({ run: { state } }) => state);
    assert.deepEqual(await states(), ['interrupted']);
    const before = await engine.runs.list();
    engine.runs.list = () => Promise.resolve(before);
    await engine.runs.write({ ...record, state: 'done' });
    assert.deepEqual(await states(), ['done']);
    await engine.close();
  });
});
