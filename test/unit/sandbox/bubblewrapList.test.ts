/** What a list of sandboxes costs whoever runs hundreds of episodes while it is looked at. */
import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ppid } from 'node:process';
import { mock } from 'node:test';
import { BubblewrapProvider } from '../../../src/sandbox/bubblewrap/provider.js';
import { currentOwner, startTime } from '../../../src/sandbox/owner.js';
import { skip } from '../../support/skip.js';

const COUNT = 64;

describe('a list of bubblewrap sandboxes', () => {
  let stateDir: string;
  before(async function () {
    if (process.platform !== 'linux') skip(this, 'bubblewrap is for Linux');
    stateDir = await fs.mkdtemp(join(tmpdir(), 'list-'));
    await fs.mkdir(join(stateDir, 'sandboxes'));
  });
  after(() => stateDir && fs.rm(stateDir, { recursive: true, force: true }));

  const note = (owner: string, first: number) =>
    Promise.all(
      Array.from({ length: COUNT }, (_, index) =>
        fs.writeFile(join(stateDir, 'sandboxes', `bw-${String(first + index).padStart(16, '0')}.json`), JSON.stringify({ labels: { owner, expires: Date.now() + 60_000 }, createdAt: Date.now() })),
      ),
    );

  /** States of all, and how often the processes of the machine were gone through for them. */
  async function list() {
    const readdir = mock.method(fs, 'readdir');
    const provider = new BubblewrapProvider({ stateDir, environment: {}, log: () => undefined });
    const states = (await provider.list()).map(({ state }) => state);
    const looks = readdir.mock.calls.filter(({ arguments: [path] }) => path === '/proc').length;
    readdir.mock.restore();
    return { states, looks };
  }

  it('goes through the processes of the machine for none of its own that are just made or ended, and once for all of those of others', async () => {
    await note(await currentOwner(), 0);
    assert.deepEqual(await list(), { states: Array(COUNT).fill('starting'), looks: 0 });
    const [, , boot] = (await currentOwner()).split(':');
    await note([ppid, await startTime(ppid), boot].join(':'), COUNT);
    assert.deepEqual(await list(), { states: Array(2 * COUNT).fill('starting'), looks: 1 });
  });
});
