/** Sandboxes with gVisor's kernel in place of the machine's, on a real `runsc`. */
import { strict as assert } from 'node:assert';
import { text } from 'node:stream/consumers';
import { ExecTimeout, LimitExceeded } from '../../../src/sandbox/errors.js';
import { Bench, commandLines, output, run } from '../conformance/bench.js';
import { skip } from '../../support/skip.js';
import { dockerSubject } from './subject.js';

describe('docker with gVisor', function () {
  this.timeout(120_000);
  const bench = new Bench();
  before(async function () {
    this.timeout(600_000);
    await bench.start(await dockerSubject());
    const lack = (await bench.provider.check()).lacks?.gvisor;
    if (lack !== undefined) skip(this, lack);
  });
  after(() => bench.stop());
  afterEach('leaves no sandbox', () => bench.terminateAll());

  it('runs commands on another kernel, from what was prepared on this one', async () => {
    const sandbox = await bench.restore({ isolation: 'gvisor', env: { GIVEN: 'ünï' } });
    assert.deepEqual(await run(sandbox, 'cat /srv/task/link; echo $GIVEN >&2; exit 7'), { code: 7, stdout: 'prepared\n', stderr: 'ünï\n' });
    assert.equal(await output(sandbox, 'wc -c', { stdin: 'x'.repeat(100_000) }), '100000\n');
    const [there, here] = [await output(sandbox, 'dmesg'), await output(await bench.restore(), 'cat /proc/version')];
    assert.match(there, /gVisor/);
    assert.notEqual(await output(sandbox, 'cat /proc/version'), here);
  });

  it('kills a command at its deadline, and everything on demand', async () => {
    const sandbox = await bench.restore({ isolation: 'gvisor' });
    const late = sandbox.exec(['sh', '-c', 'sleep 300 & sleep 300'], { timeoutMs: 1500 });
    late.stdout.resume();
    late.stderr.resume();
    await assert.rejects(late.exit, ExecTimeout);
    await run(sandbox, 'sleep 300 >/dev/null 2>&1 &');
    await sandbox.killAll();
    assert.deepEqual((await commandLines(sandbox)).filter((line) => line.includes('sleep 300')), []);
  });

  it('is killed for its memory as a whole, and that is what is said', async () => {
    const sandbox = await bench.restore({ isolation: 'gvisor', resources: { memory: 96 << 20 } });
    await assert.rejects(run(sandbox, 'head -c 400m /dev/zero | tail', { timeoutMs: 60_000 }), (error: Error) => error instanceof LimitExceeded && /memory limit/.test(error.message));
    await assert.rejects(run(sandbox, 'echo again'), LimitExceeded);
    await sandbox.terminate();
  });

  it('takes files in and gives them out as they are inside', async () => {
    const sandbox = await bench.restore({ isolation: 'gvisor', user: '1234:1234', writable: ['/srv/task'] });
    await sandbox.files.write('/tmp/file', 'first');
    assert.equal(await output(sandbox, 'cat /tmp/file; echo and more >> /tmp/file; id -u'), 'first1234\n');
    await sandbox.files.write('/tmp/other', 'x');
    assert.equal(await text(await sandbox.files.read('/tmp/file')), 'firstand more\n');
    assert.notEqual((await run(sandbox, 'echo x > /etc/x')).code, 0);
  });

  it('is snapshotted, and says what it has changed', async () => {
    const sandbox = await bench.restore({ isolation: 'gvisor' });
    await output(sandbox, 'echo changed > /srv/task/state; rm /srv/task/link');
    assert.deepEqual(await sandbox.changes(), [{ path: '/srv/task/link', kind: 'removed' }, { path: '/srv/task/state', kind: 'modified' }]);
    const snapshot = await sandbox.snapshot('filesystem');
    try {
      assert.equal(await output(await bench.restore({ isolation: 'gvisor' }, snapshot), 'cat /srv/task/state; echo /srv/task/*'), 'changed\n/srv/task/state\n');
    } finally {
      await bench.terminateAll();
      await bench.provider.removeSnapshot(snapshot);
    }
  });
});
