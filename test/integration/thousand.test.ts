/** A thousand sandboxes, one after another and side by side: what is left of them. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { Bench, output } from './conformance/bench.js';
import { skip } from '../support/skip.js';
import { bubblewrapSubject } from './bubblewrap/subject.js';

const MANY = 1000;
const AT_ONCE = 64;
/** Of resident memory, once the first sandboxes have filled what is kept for the next. */
const MOST_GROWTH = 48 << 20;

describe('a thousand sandboxes', function () {
  this.timeout(180_000);
  const bench = new Bench();
  before(async function () {
    const subject = await bubblewrapSubject();
    const { ok, summary } = await subject.provider.check();
    if (!ok) {
      await subject.close?.();
      skip(this, summary);
    }
    await bench.start(subject);
  });
  after(() => bench.stop());

  it('leave no sandbox, process, mount, descriptor or memory behind', async () => {
    const { stateDir } = bench.subject.context;
    const ids: string[] = [];
    const make = async (count: number): Promise<void> => {
      let left = count;
      const worker = async (): Promise<void> => {
        while (left-- > 0) {
          const sandbox = await bench.restore();
          ids.push(sandbox.id);
          assert.equal(await output(sandbox, 'echo $$ > /tmp/x; sleep 100 >/dev/null 2>&1 &'), '');
          await sandbox.terminate();
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
    };
    const measure = async () => {
      global.gc?.();
      const [descriptors, mounts] = await Promise.all([readdir('/proc/self/fd'), readFile('/proc/self/mountinfo', 'utf8')]);
      return { descriptors: descriptors.length, mounts: mounts.split('\n').length, memory: process.memoryUsage().rss };
    };
    await make(AT_ONCE * 3);
    const before = await measure();
    await make(MANY);
    const after = await measure();
    assert.equal(new Set(ids).size, MANY + AT_ONCE * 3);
    assert.deepEqual(await bench.provider.list(), []);
    assert.equal(after.mounts, before.mounts);
    assert.ok(after.descriptors <= before.descriptors + 2, `${before.descriptors} descriptors before, ${after.descriptors} after`);
    assert.ok(after.memory - before.memory < MOST_GROWTH, `${(after.memory - before.memory) >> 20} MiB more`);
    const known = new Set(ids);
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
      assert.ok(!words.some((word) => known.has(word)), words.join(' '));
    }
    for (const folder of ['sandboxes', 'work']) assert.deepEqual(await readdir(`${stateDir}/${folder}`).catch(() => []), [], folder);
  });
});
