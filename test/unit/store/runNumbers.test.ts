/** Numbers of runs, given by real processes at once. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Layout } from '../../../src/store/layout.js';
import type { RunRecord } from '../../../src/store/records.js';
import { RunStore } from '../../../src/store/runStore.js';

const RECORD = { template: 'x', createdAt: 0 } as RunRecord;
const PROCESSES = 4;
const EACH = 6;

describe('numbers of runs', () => {
  let root: string;
  beforeEach(async () => (root = await mkdtemp(join(tmpdir(), 'numbers-'))));
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('are given once, however many processes ask in the same instant', async () => {
    const children = Array.from({ length: PROCESSES }, () => fork(join(import.meta.dirname, 'makesRuns.ts'), [root, String(EACH)]));
    await Promise.all(children.map((child) => once(child, 'message')));
    for (const child of children) child.send('go');
    const codes = await Promise.all(children.map((child) => once(child, 'exit')));
    assert.deepEqual(codes.map(([code]) => code as number), children.map(() => 0));
    const numbers = (await new RunStore(new Layout(root)).list()).map(({ number }) => number).sort((a, b) => a - b);
    assert.equal(numbers.length, PROCESSES * EACH);
    assert.equal(new Set(numbers).size, PROCESSES * EACH, `some twice: ${numbers.join()}`);
  }).timeout(60_000);

  it('go on past one that a crash kept', async () => {
    const store = new RunStore(new Layout(root));
    assert.equal((await store.create(RECORD)).number, 1);
    await mkdir(join(store.layout.runs, '.number-2'));
    assert.equal((await store.create(RECORD)).number, 3);
    assert.equal((await store.create(RECORD)).number, 4);
  });
});
