import { strict as assert } from 'node:assert';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from '../../../scripts/lib/lock.mjs';

describe('the lock of set-up', () => {
  let folder: string;
  before(async () => void (folder = await mkdtemp(join(tmpdir(), 'rl-lock-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  it('can be taken where there is no cache folder yet, by one at a time, and is given back', async () => {
    const lock = join(folder, 'not', 'there', 'yet.lock');
    let inside = 0;
    const work = async () => {
      inside += 1;
      assert.equal(inside, 1);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    await Promise.all([withLock(lock, work), withLock(lock, work)]);
    await assert.rejects(access(lock), { code: 'ENOENT' });
  });
});
