import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { currentOwner, isOwnerAlive } from '../../../src/sandbox/owner.js';
import type { Sandbox } from '../../../src/sandbox/provider.js';
import { output, run, until, type Bench } from './bench.js';
import { skip } from '../../support/skip.js';

const ORPHAN = fileURLToPath(new URL('./orphan.ts', import.meta.url));

/** Building, snapshots, fresh sandboxes, finding and ending them. */
export function lifecycle(bench: Bench): void {
  const listed = async (id: string) => (await bench.provider.list()).find((info) => info.id === id);

  describe('life', () => {
    it('check says what is there and what is in force', async () => {
      const health = await bench.provider.check();
      assert.equal(health.ok, true);
      assert.notEqual(health.summary, '');
      for (const limit of ['cpu', 'memory', 'pids', 'disk'] as const) assert.match(health.limits![limit], /^(cgroup|rlimit|filesystem|none)$/);
      await assert.rejects(bench.provider.check({ signal: AbortSignal.abort(new Error('stop')) }), /stop/);
    });

    it('resolve gives the same digest for the same base', async () => {
      const digest = await bench.provider.resolve(bench.subject.base);
      assert.notEqual(digest, '');
      assert.equal(await bench.provider.resolve(bench.subject.base), digest);
    });

    it('a snapshot restores to what was prepared, any number of times', async () => {
      assert.ok(bench.snapshot.sizeBytes > 0);
      for (let time = 0; time < 3; time++) {
        const sandbox = await bench.restore();
        assert.equal(await output(sandbox, 'cat /srv/task/state /srv/task/link; readlink /srv/task/link; stat -c %a /srv/task'), 'prepared\nprepared\nstate\n751\n');
      }
    });

    it('nothing that one sandbox does is seen by another, or by the snapshot', async () => {
      const [first, second] = [await bench.restore(), await bench.restore()];
      await output(first, 'echo changed > /srv/task/state; rm /srv/task/link; touch /srv/extra /tmp/extra; mkdir -p /dev/shm 2>/dev/null; touch /dev/shm/extra');
      const look = 'cat /srv/task/state; ls /srv /srv/task /tmp /dev/shm';
      const fresh = 'prepared\n/dev/shm:\n\n/srv:\ntask\n\n/srv/task:\nlink\nstate\n\n/tmp:\n';
      assert.equal(await output(second, look), fresh);
      assert.equal(await output(await bench.restore(), look), fresh);
    });

    it('a snapshot of a restored sandbox holds what both did, removals too', async () => {
      const sandbox = await bench.restore();
      await output(sandbox, 'echo more > /srv/more; rm -r /srv/task; mkdir /srv/task; echo new > /srv/task/new');
      const snapshot = await sandbox.snapshot('filesystem');
      try {
        assert.equal(await bench.provider.hasSnapshot(snapshot), true);
        await sandbox.terminate();
        const again = await bench.restore({}, snapshot);
        assert.equal(await output(again, 'cat /srv/more; ls -A /srv /srv/task'), 'more\n/srv:\nmore\ntask\n\n/srv/task:\nnew\n');
        assert.equal(await output(await bench.restore(), 'cat /srv/task/state'), 'prepared\n');
      } finally {
        await bench.terminateAll();
        await bench.provider.removeSnapshot(snapshot);
      }
    });

    it('a snapshot that was removed is gone, and removing it again is no error', async () => {
      const sandbox = await bench.create();
      await output(sandbox, 'echo x > /srv/x');
      const snapshot = await sandbox.snapshot('filesystem');
      await sandbox.terminate();
      assert.equal(await bench.provider.hasSnapshot(snapshot), true);
      await bench.provider.removeSnapshot(snapshot);
      await bench.provider.removeSnapshot(snapshot);
      assert.equal(await bench.provider.hasSnapshot(snapshot), false);
      await assert.rejects(bench.restore({}, snapshot));
      assert.equal(await bench.provider.hasSnapshot(bench.snapshot), true);
    });

    it('setup may do what package managers do: owners, modes, setuid', async function () {
      if (!bench.provider.capabilities.aptPackages) {
        skip(this, 'no package manager can run here');
      }
      const sandbox = await bench.create();
      assert.equal(await output(sandbox, 'touch /srv/f && chown 33:33 /srv/f && chmod 4711 /srv/f && stat -c "%u %g %a" /srv/f'), '33 33 4711\n');
    });

    it('list shows a sandbox with its labels until it is terminated, by whomever, twice', async () => {
      const sandbox = await bench.restore();
      const info = await listed(sandbox.id);
      assert.ok(info);
      assert.equal(info.state, 'running');
      assert.equal(info.provider, bench.provider.id);
      const { owner, run: runId, episode, template, digest } = info.labels;
      assert.deepEqual({ owner, runId, episode, template, digest }, { owner: await currentOwner(), runId: 'conformance', episode: 7, template: 'conformance', digest: 'sha256:0' });
      assert.ok(info.labels.expires > Date.now());
      await bench.provider.terminate(sandbox.id);
      await bench.provider.terminate(sandbox.id);
      assert.equal(await listed(sandbox.id), undefined);
      await sandbox.terminate();
      await sandbox[Symbol.asyncDispose]();
      await bench.provider.terminate('never-was');
      await bench.subject.assertNothingLeft?.(sandbox.id);
    });

    it('terminate leaves nothing, whatever runs inside', async () => {
      const sandbox = await bench.restore();
      await output(sandbox, 'trap "" TERM; (while :; do echo x > /srv/f; done) & setsid sleep 300 &');
      const busy = sandbox.exec(['sh', '-c', 'trap "" TERM; sleep 300']);
      busy.stdout.resume();
      busy.stderr.resume();
      const lost = assert.rejects(busy.exit);
      await Promise.all([sandbox.terminate(), sandbox.terminate()]);
      await lost;
      assert.equal(await listed(sandbox.id), undefined);
      await bench.subject.assertNothingLeft?.(sandbox.id);
    });

    it('many live side by side, each its own', async () => {
      const count = bench.subject.parallel ?? 32;
      const sandboxes = await Promise.all(Array.from({ length: count }, () => bench.restore()));
      assert.equal(new Set(sandboxes.map((sandbox) => sandbox.id)).size, count);
      const words = await Promise.all(sandboxes.map((sandbox, index) => output(sandbox, `echo ${index} > /srv/me; cat /srv/me`)));
      assert.deepEqual(words, sandboxes.map((_, index) => `${index}\n`));
      await bench.terminateAll();
      assert.deepEqual(await Promise.all(sandboxes.map((sandbox) => listed(sandbox.id))), sandboxes.map(() => undefined));
    });

    it('a restore that is aborted leaves nothing', async () => {
      const before = (await bench.provider.list()).length;
      await assert.rejects(bench.provider.restore(bench.snapshot, await bench.spec(), { signal: AbortSignal.abort(new Error('stop')) }), /stop/);
      const abort = new AbortController();
      const restoring = bench.provider.restore(bench.snapshot, await bench.spec(), { signal: abort.signal });
      setImmediate(() => abort.abort(new Error('stop')));
      const sandbox = await restoring.catch((error: unknown) => error);
      if (!(sandbox instanceof Error)) await (sandbox as Sandbox).terminate();
      await until(async () => (await bench.provider.list()).length === before, 'the list to be as before');
    });

    it('a sandbox ends by itself after its life', async () => {
      const sandbox = await bench.restore({ lifetimeMs: bench.subject.shortLifeMs ?? 1500 });
      const child = sandbox.exec(['sh', '-c', 'sleep 300']);
      child.stdout.resume();
      child.stderr.resume();
      await assert.rejects(child.exit);
      await until(async () => (await listed(sandbox.id))?.state !== 'running', 'it to be gone');
    });

    it('what a killed owner left behind is found, known as dead, and reaped', async () => {
      const { provider, context } = { provider: bench.provider, context: bench.subject.context };
      const args = ['--import', 'tsx', ORPHAN, provider.id, context.stateDir, JSON.stringify(bench.snapshot)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
      const { id, owner } = JSON.parse(line) as { id: string; owner: string };
      assert.equal((await listed(id))?.labels.owner, owner, 'it is seen from another process');
      assert.equal(await isOwnerAlive(owner), true);
      child.kill('SIGKILL');
      await once(child, 'exit');
      assert.equal(await isOwnerAlive(owner), false);
      await provider.terminate(id);
      assert.equal(await listed(id), undefined);
      await bench.subject.assertNothingLeft?.(id);
    });

    it('a spec that cannot be kept is refused, not ignored', async () => {
      if (bench.provider.capabilities.gpu) return;
      await assert.rejects(bench.withResources({ gpu: { count: 1 } }), { name: 'Unsupported' });
    });

    it('setup and episodes may each use the other network', async () => {
      const sandbox = await bench.create({ network: 'none' });
      assert.equal((await run(sandbox, 'tail -n +2 /proc/net/route')).stdout, '');
    });
  });
}
