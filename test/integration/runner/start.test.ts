/** One runner for each place, whoever starts it, whatever died before. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { acquireLock, lockHolder } from '../../../src/store/lock.js';
import { Home, SCRIPT, until } from './home.js';

describe('the start of a runner', function () {
  this.timeout(120_000);
  let home: Home;
  beforeEach(async () => (home = await Home.make()));
  afterEach(() => home.remove());

  const begin = () => spawn(process.execPath, [SCRIPT, home.place.folder], { stdio: 'ignore', env: home.env });

  it('ends with exactly one, however many start it at once', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 6 }, () => home.connect()));
    for (const { welcome } of others) assert.equal(welcome.pid, first!.welcome.pid);
    await until('the others to go', async () => ((await home.runners()).length === 1 ? true : undefined));
    assert.deepEqual(await home.runners(), [first!.welcome.pid]);
  });

  it('ends with exactly one when several processes find a dead one\'s lock at once', async () => {
    const dead = await home.connect();
    process.kill(dead.welcome.pid, 'SIGKILL');
    await dead.closed;
    const children = Array.from({ length: 5 }, begin);
    const { welcome } = await home.connect();
    const survivors = children.filter(({ pid }) => pid === welcome.pid);
    await Promise.all(children.filter((child) => !survivors.includes(child) && child.exitCode === null).map((child) => once(child, 'exit')));
    assert.deepEqual(await home.runners(), [welcome.pid]);
    // Of the folder only what one runner needs is left.
    const files = (await readdir(home.place.folder)).sort();
    assert.deepEqual(files.filter((name) => name.startsWith('lock.')).length, 1, files.join());
    assert.equal(files.some((name) => name.startsWith('draft.')), false);
  });

  it('survives one that was killed in the middle of it, at any moment', async () => {
    for (const moment of [0, 40, 80, 120, 160, 200, 260]) {
      const child = begin();
      await delay(moment);
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const { welcome } = await home.connect();
    assert.deepEqual(await home.runners(), [welcome.pid]);
  });

  it('takes over the lock of a dead process, and of a reused process id, whatever the clock said', async () => {
    const { folder } = home.place;
    await mkdir(folder, { mode: 0o700 });
    for (const [number, owner] of [[7, `${process.pid}:1:another-boot`], [8, '999999999:5:x'], [9, '']] as const) {
      await writeFile(join(folder, `lock.${number}`), owner);
      // As if the clock had been set back since.
      await utimes(join(folder, `lock.${number}`), new Date('2099-01-01'), new Date('2099-01-01'));
    }
    const { welcome } = await home.connect();
    assert.equal(await lockHolder(folder), welcome.pid);
    assert.equal(await acquireLock(folder), false);
  });

  it('keeps its token to the user, and changes it', async () => {
    const read = async () => [((await stat(home.place.token)).mode & 0o777).toString(8), await readFile(home.place.token, 'utf8')] as const;
    const first = await home.connect();
    const [mode, token] = await read();
    assert.equal(mode, '600');
    process.kill(first.welcome.pid, 'SIGKILL');
    await first.closed;
    await home.connect();
    assert.notEqual((await read())[1], token);
  });

  it('is not given secrets of whoever starts it', async () => {
    process.env.RL_TEST_SECRET = 'a-secret-of-the-first-window';
    try {
      const { welcome } = await home.connect();
      const environment = await readFile(`/proc/${welcome.pid}/environ`, 'utf8');
      assert.ok(environment.includes('PATH='));
      assert.equal(environment.includes('a-secret-of-the-first-window'), false);
    } finally {
      delete process.env.RL_TEST_SECRET;
    }
  });

  it('goes when nothing has needed it for as long as the last window said, and not while one is connected', async () => {
    const first = await home.connect({ idleTimeoutMs: 200 });
    await delay(600);
    assert.deepEqual(await home.runners(), [first.welcome.pid]);
    first.close();
    await until('it to go', async () => ((await home.runners()).length === 0 ? true : undefined));
    assert.deepEqual((await readdir(home.place.folder)).filter((name) => !name.startsWith('lock.')).sort(), ['runner.log']);
  });

  it('uses no processor time while it waits, with a window that looks', async () => {
    const window = await home.window();
    const { pid } = window.connection.welcome;
    await window.client.request('look', { roots: [{ root: home.root, visible: false }] });
    const ticks = async () => {
      const fields = (await readFile(`/proc/${pid}/stat`, 'latin1')).split(') ')[1]!.split(' ');
      return Number(fields[11]) + Number(fields[12]);
    };
    const switches = async () => Number(/voluntary_ctxt_switches:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'latin1'))![1]);
    await delay(1000);
    const before = [await ticks(), await switches()] as const;
    await delay(3000);
    const [used, woken] = [(await ticks()) - before[0], (await switches()) - before[1]];
    // A collection of garbage may fall into them.
    assert.ok(used <= 3, `${used} ticks of the processor in 3 s`);
    assert.ok(woken <= 10, `woken ${woken} times in 3 s`);
  });
});
