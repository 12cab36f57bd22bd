import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { currentOwner, isOwnerAlive, startTime } from '../../../src/sandbox/owner.js';

describe('owner', () => {
  it('is alive while its process runs, and dead after, even before it is waited for', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'inherit'] });
    const [, ...rest] = (await currentOwner()).split(':');
    const owner = [child.pid, (await startTime(child.pid!)) ?? '-', rest.at(-1)].join(':');
    assert.equal(await isOwnerAlive(owner), true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(await isOwnerAlive(owner), false);
  });

  it('tells a pid that is used again, and another boot, from the owner', async () => {
    const owner = await currentOwner();
    assert.equal(await isOwnerAlive(owner), true);
    const [pid, start, boot] = owner.split(':');
    if (start !== '-') assert.equal(await isOwnerAlive(`${pid}:${Number(start) + 1}:${boot}`), false);
    assert.equal(await isOwnerAlive(`${pid}:${start}:another-boot`), false);
  });

  it('takes what is not an owner for dead', async () => {
    for (const owner of ['', ':', 'x:y:z', '-1:1:1', '0:1:1', '1e99:1:1']) assert.equal(await isOwnerAlive(owner), false, owner);
  });
});
