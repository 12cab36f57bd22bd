import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { output, run, type Bench } from './bench.js';
import { skip } from '../../support/skip.js';

const MEBIBYTE = 1 << 20;

/** What a sandbox cannot do, and which limits hold. */
export function isolation(bench: Bench): void {
  describe('isolation', () => {
    it('takes all capabilities and the way to new ones', async () => {
      const status = await output(await bench.restore(), 'cat /proc/self/status');
      const field = (name: string): string => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)![1]!;
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.equal(BigInt(`0x${field(set)}`), 0n, set);
      assert.equal(field('NoNewPrivs'), '1');
    });

    it('holds for every command, also those beside and after the first', async () => {
      const sandbox = await bench.restore();
      const first = sandbox.exec(['sh', '-c', 'sleep 300 & read x < /dev/null; sleep 300']);
      first.stdout.resume();
      first.stderr.resume();
      const beside = await output(sandbox, 'grep -E "^(Cap|NoNew)" /proc/self/status; cat', { stdin: 'x' });
      for (const line of beside.trim().split('\n').slice(0, -1)) assert.match(line, /^(Cap\w+:\s*0+|NoNewPrivs:\s*1)$/);
      const exit = first.exit.catch(() => undefined);
      await sandbox.terminate();
      await exit;
    });

    it('keeps the host out of sight: processes, names, files', async () => {
      const sandbox = await bench.restore();
      const pids = (await output(sandbox, 'cd /proc; echo [0-9]*')).trim().split(' ');
      assert.ok(pids.length < 20, pids.join());
      assert.equal((await run(sandbox, 'kill -0 ' + process.pid)).code === 0 && process.pid > 100, false);
      assert.notEqual(await output(sandbox, 'hostname 2>/dev/null || cat /proc/sys/kernel/hostname'), await readFile('/proc/sys/kernel/hostname', 'utf8'));
      const shadow = await run(sandbox, ['cat', '/proc/1/root/../../etc/shadow']);
      assert.notEqual(shadow.stdout, await readFile('/etc/shadow', 'utf8').catch(() => 'not readable here either'), 'an image may have one of its own, and only that may be seen');
      assert.equal((await run(sandbox, 'grep -q "^root:[$]" /etc/shadow')).code !== 0, true, 'a password hash is in sight');
      assert.deepEqual((await output(sandbox, 'ls -A /root /home 2>/dev/null; true')).split('\n').filter((line) => /ssh|history|\.config/.test(line)), []);
    });

    it('refuses to mount, to reach kernel settings, to make devices and user namespaces with powers', async () => {
      const sandbox = await bench.restore();
      for (const attempt of [
        'mount -t tmpfs none /mnt',
        'mount --bind /etc /mnt',
        'umount /proc',
        'echo 1 > /proc/sys/kernel/panic',
        'echo core > /proc/sys/kernel/core_pattern',
        'echo b > /proc/sysrq-trigger',
        'mknod /tmp/sda b 8 0',
        'chroot / true',
        'unshare --user --map-root-user --mount mount -t tmpfs none /mnt',
        'hostname other',
      ])
        assert.notEqual((await run(sandbox, `(${attempt}) 2>/dev/null`)).code, 0, attempt);
    });

    it('without a network has no way out and none to the host', async () => {
      const server = createServer((socket) => socket.end('host')).listen(0, '127.0.0.1');
      await once(server, 'listening');
      try {
        const sandbox = await bench.restore({ network: 'none' });
        const interfaces = (await output(sandbox, 'tail -n +3 /proc/net/dev')).split('\n').map((line) => line.split(':')[0]!.trim()).filter(Boolean);
        const up = (await output(sandbox, 'tail -n +2 /proc/net/route; tail -n +1 /proc/net/if_inet6 2>/dev/null | grep -v " lo$"; true')).trim();
        assert.ok(interfaces.includes('lo'));
        assert.equal(up, '');
        const port = (server.address() as AddressInfo).port;
        const reached = await run(sandbox, `command -v bash >/dev/null && exec bash -c "exec 3<>/dev/tcp/127.0.0.1/${port}"; exit 9`);
        assert.notEqual(reached.code, 0);
      } finally {
        server.close();
      }
    });

    it('with the full network has one', async function () {
      if (!bench.provider.capabilities.network.includes('full')) {
        skip(this, 'the provider has no full network');
      }
      if ((await readFile('/proc/net/route', 'utf8').catch(() => '')).trim().split('\n').length < 2) {
        skip(this, 'this machine has no route itself');
      }
      const sandbox = await bench.restore({ network: 'full' });
      assert.ok((await output(sandbox, 'cat /proc/net/route')).trim().split('\n').length > 1);
      assert.match(await output(sandbox, 'cat /etc/resolv.conf'), /nameserver/);
    });

    it('ends a command that takes too much memory, and says that this was why', async function () {
      const health = await bench.provider.check();
      if (health.limits?.memory !== 'cgroup') {
        skip(this, `memory is limited by ${health.limits?.memory}, which does not kill`);
      }
      const sandbox = await bench.withResources({ memory: 64 * MEBIBYTE });
      const hog = await run(sandbox, 'head -c 300m /dev/zero | tail', { timeoutMs: 60_000 });
      assert.equal(hog.code, 137);
      assert.equal(hog.killedBy, 'memory');
      assert.equal((await run(sandbox, 'exit 3')).killedBy, undefined, 'a later command must not be blamed');
    });

    it('stops a command that takes too much memory, whatever limits it', async () => {
      const sandbox = await bench.withResources({ memory: 64 * MEBIBYTE });
      assert.notEqual((await run(sandbox, 'head -c 300m /dev/zero | tail', { timeoutMs: 60_000 })).code, 0);
      assert.equal(await output(sandbox, 'echo alive'), 'alive\n');
    });

    it('limits processes', async function () {
      const health = await bench.provider.check();
      if (health.limits?.pids === 'none') {
        skip(this, 'the number of processes is not limited here');
      }
      const sandbox = await bench.withResources({ pids: 40 });
      const { stdout } = await run(sandbox, '(for i in $(seq 1 100); do sleep 300 & done) 2>/dev/null; ls -d /proc/[0-9]* | wc -l', { timeoutMs: 20_000 }).catch(() => ({ stdout: '0' }));
      assert.ok(Number(stdout) <= 42, stdout);
      await sandbox.killAll();
      assert.equal(await output(sandbox, 'echo alive'), 'alive\n');
    });

    it('lets a full disk be an error inside and nothing more', async function () {
      const health = await bench.provider.check();
      if (health.limits?.disk === 'none') {
        skip(this, 'the disk is not limited here');
      }
      const sandbox = await bench.withResources({ disk: 16 * MEBIBYTE });
      const full = await run(sandbox, 'head -c 64m /dev/zero > /srv/fill');
      assert.notEqual(full.code, 0);
      assert.match(full.stderr, /No space left|Disk quota|File too large/);
      assert.equal(await output(sandbox, 'rm /srv/fill; echo small > /srv/small; cat /srv/small'), 'small\n');
    });

    it('limits the processor', async function () {
      const health = await bench.provider.check();
      if (health.limits?.cpu === 'none') {
        skip(this, 'the processor is not limited here');
      }
      const sandbox = await bench.withResources({ cpu: 0.2 });
      const spin = await output(sandbox, 'end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done; times');
      const used = [...spin.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
      assert.ok(used > 0 && used < 1.5, `${spin.trim()} in about 3 s`);
    });
  });
}
