/** Sandboxes that are suspended to disk and resumed, on a real engine's checkpoints: CRIU's, and gVisor's own. */
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureCriu } from '../../../scripts/setup/criu.mjs';
import { runCommand } from '../../../src/sandbox/command.js';
import { SandboxLost, Suspended, Unsupported } from '../../../src/sandbox/errors.js';
import type { Sandbox, SandboxSpec } from '../../../src/sandbox/provider.js';
import { skip } from '../../support/skip.js';
import { Bench, commandLines, output, run, until } from '../conformance/bench.js';
import { counted, next } from '../conformance/counter.js';
import { dockerSubject, type DockerSubject } from './subject.js';

for (const isolation of ['default', 'gvisor'] as const) {
  describe(`docker suspends, isolation ${isolation}:`, function () {
    this.timeout(120_000);
    const bench = new Bench();
    let subject: DockerSubject;
    before(async function () {
      this.timeout(600_000);
      const noCriu = isolation === 'default' ? await ensureCriu() : undefined;
      subject = await dockerSubject();
      await bench.start(subject);
      const health = await bench.provider.check();
      const lack = noCriu ?? (isolation === 'gvisor' ? health.lacks?.gvisor : health.noSuspend);
      if (lack !== undefined) skip(this, lack);
    });
    after(() => bench.stop());
    afterEach('leaves no sandbox', async () => {
      await bench.terminateAll();
      assert.deepEqual(await subject.containers(), []);
    });

    const restore = (more: Partial<SandboxSpec> = {}): Promise<Sandbox> => bench.restore({ isolation, suspendable: true, ...more });

    it('a server with a counter goes on from where it was, and what it wrote is there', async () => {
      const sandbox = await counted(await restore(), 3);
      const service = isolation === 'default' ? sandbox.exec(['sh', '-c', 'echo begun; while :; do sleep 0.1; done'], { lasting: true }) : undefined;
      service?.stderr.resume();
      if (service) await once(service.stdout, 'data');
      // What is asked for meanwhile is either before it or after it, and nothing is lost.
      const looks = Array.from({ length: 3 }, () => output(sandbox, 'echo file > /srv/file'));
      await sandbox.suspend!();
      for (const look of await Promise.allSettled(looks)) assert.ok(look.status === 'fulfilled' || look.reason instanceof Suspended, 'neither done nor refused');
      assert.equal(sandbox.info.state, 'suspended');
      assert.deepEqual(await subject.containers(), [`/rl-${sandbox.id} exited`]);
      if (service) await assert.rejects(service.exit, Suspended);
      await assert.rejects(run(sandbox, 'true'), Suspended);
      await sandbox.resume!();
      assert.equal(sandbox.info.state, 'running');
      assert.equal(await next(sandbox), 4);
      assert.equal(await output(sandbox, 'cat /srv/file'), 'file\n');
      if (service) assert.ok((await commandLines(sandbox)).some((line) => line.includes('echo begun')), 'what belongs to the sandbox goes on');
      if (isolation === 'gvisor') {
        await assert.rejects(sandbox.suspend!(), (error: Error) => error instanceof Unsupported && /once only/.test(error.message));
      } else {
        await sandbox.suspend!();
        await sandbox.resume!();
      }
      assert.equal(await next(sandbox), 5);
      await sandbox.killAll();
      assert.deepEqual(await sandbox.ports(), []);
      assert.equal(await output(sandbox, 'echo still there'), 'still there\n');
    });

    it('nothing that somebody works in', async () => {
      const sandbox = await restore();
      const shell = sandbox.exec(['sh', '-c', 'echo; sleep 100'], { stdin: 'x' });
      shell.stderr.resume();
      await once(shell.stdout, 'data');
      await assert.rejects(sandbox.suspend!(), (error: Error) => error instanceof Unsupported && /sleep 100/.test(error.message));
      await sandbox.killAll();
      await shell.exit;
    });
  });
}

describe('docker suspends', function () {
  this.timeout(120_000);
  const bench = new Bench();
  let subject: DockerSubject;
  before(async function () {
    this.timeout(600_000);
    const noCriu = await ensureCriu();
    subject = await dockerSubject();
    await bench.start(subject);
    const lack = noCriu ?? (await bench.provider.check()).noSuspend;
    if (lack !== undefined) skip(this, lack);
  });
  after(() => bench.stop());
  afterEach(() => bench.terminateAll());

  it('nothing that was not made for it, and what is suspended can be ended', async () => {
    const sandbox = await bench.restore({ suspendable: true });
    await sandbox.suspend!();
    await sandbox.terminate();
    await bench.subject.assertNothingLeft!(sandbox.id);
    await assert.rejects((await bench.restore()).suspend!(), (error: Error) => error instanceof Unsupported && /not made for that/.test(error.message));
  });

  it('nothing that cannot be saved, which goes on', async () => {
    const sandbox = await bench.restore({ suspendable: true });
    // A file without its name, of which another name is left, is more than CRIU saves unless it is told to.
    const script = 'cd /srv; sh -c "exec 5>a; ln a b; rm a; while :; do date >n; sleep 0.1; done" >/dev/null 2>&1 </dev/null &';
    await output(sandbox, script);
    await until(async () => (await run(sandbox, 'test -e /srv/b -a ! -e /srv/a -a -e /srv/n')).code === 0, 'the file');
    await assert.rejects(sandbox.suspend!(), /Suspending the sandbox failed: .*criu/i);
    assert.equal(sandbox.info.state, 'running');
    await output(sandbox, 'rm /srv/n');
    await until(async () => (await run(sandbox, 'test -e /srv/n')).code === 0, 'the process that goes on');
  });

  it('nothing for longer than its life, and ends what it resumed at its own deadline', async () => {
    const sandbox = await bench.restore({ suspendable: true, lifetimeMs: 15_000 });
    await sandbox.suspend!();
    await sandbox.resume!();
    await sandbox.ended;
  });

  /** Where the engine puts what it saves of a sandbox, if that is on this machine. */
  const checkpointsOf = async (sandbox: Sandbox, test: Mocha.Context): Promise<string> => {
    if (process.getuid?.() !== 0) skip(test, 'the folders of the engine are root\'s');
    const [{ DockerRootDir }, { Id }] = [(await subject.docker.info()) as { DockerRootDir: string }, await subject.docker.getContainer(`rl-${sandbox.id}`).inspect()];
    const folder = join(DockerRootDir, 'containers', Id);
    if (!(await stat(folder).catch(() => undefined))) skip(test, 'the engine keeps its containers elsewhere');
    return join(folder, 'checkpoints');
  };

  it('nothing that is ended in the middle, of which nothing is left', async function () {
    const sandbox = await bench.restore({ suspendable: true });
    const checkpoints = await checkpointsOf(sandbox, this);
    // So much memory that it takes a while.
    await output(sandbox, `setsid python3 -c 'import os, time; kept = os.urandom(96 << 20); open("/srv/there", "w"); time.sleep(600)' </dev/null >/dev/null 2>&1 & while ! [ -e /srv/there ]; do sleep 0.1; done`);
    let over = false;
    const outcome = sandbox.suspend!().then(() => 'suspended', (error: Error) => error).finally(() => (over = true));
    await until(async () => (await readdir(checkpoints).catch(() => [])).length > 0, 'what is being saved');
    assert.equal(over, false, 'it was in the middle');
    await sandbox.terminate();
    await subject.assertNothingLeft!(sandbox.id);
    await outcome;
    await assert.rejects(sandbox.resume!());
    await assert.rejects(run(sandbox, 'true'), SandboxLost);
    assert.deepEqual(await subject.containers(), []);
  });

  it('nothing on a full disk: it goes on, or has ended if the engine has lost it, and nothing is left of it', async function () {
    const sandbox = await bench.restore({ suspendable: true });
    await output(sandbox, 'sleep 1000 </dev/null >/dev/null 2>&1 &');
    const checkpoints = await checkpointsOf(sandbox, this);
    await mkdir(checkpoints, { recursive: true });
    const mounted = await runCommand('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'rl-full', checkpoints]);
    assert.equal(mounted.code, 0, mounted.stderr);
    try {
      await assert.rejects(sandbox.suspend!(), /^SandboxError: Suspending the sandbox failed: /);
    } finally {
      await runCommand('umount', ['--lazy', checkpoints]);
    }
    // What became of the processes the engine does not say; it is no sandbox that seems to be there and is not.
    const goesOn = await run(sandbox, 'true').then(({ code }) => code === 0, (error: unknown) => {
      assert.ok(error instanceof SandboxLost, String(error));
      return false;
    });
    assert.equal(sandbox.info.state, 'running');
    if (process.env.RL_SHOW) console.log(goesOn);
    if (!goesOn) await sandbox.ended;
    await sandbox.terminate();
    await subject.assertNothingLeft!(sandbox.id);
  });
});
