import { strict as assert } from 'node:assert';
import { buffer, text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { extract, pack } from 'tar-stream';
import { SandboxError, Unsupported } from '../../../src/sandbox/errors.js';
import { commandLines, output, run, type Bench } from './bench.js';
import { skip } from '../../support/skip.js';

/** Another user than root, and a root that cannot be written to. */
export function restrictions(bench: Bench): void {
  describe('another user', () => {
    beforeEach(function () {
      if (!bench.provider.capabilities.user) skip(this, 'the provider has no other users');
    });

    it('is who all commands run as, without the powers of root', async () => {
      const sandbox = await bench.restore({ user: '1234:1235', env: { GIVEN: 'yes' } });
      const look = 'echo $(id -u) $(id -g) $(id -G) $GIVEN; grep -E "^(Cap|NoNew)" /proc/self/status';
      const terminal = sandbox.exec(['sh', '-c', 'id -u'], { tty: { columns: 80, rows: 25 } });
      for (const said of [await output(sandbox, look), await output(sandbox, look, { stdin: 'x' })]) {
        const [who, ...status] = said.trim().split('\n');
        assert.equal(who, '1234 1235 1235 yes');
        for (const line of status) assert.match(line, /^(Cap\w+:\s*0+|NoNewPrivs:\s*1)$/);
      }
      assert.equal((await text(terminal.stdout)).trim(), '1234');
      // Podman's filter of system calls lets anyone have a user namespace.
      const nested = bench.provider.id === 'podman' ? [] : ['unshare --user --map-root-user --mount mount -t tmpfs none /mnt'];
      for (const attempt of ['echo x >> /etc/passwd', 'rm -r /srv/task', 'cat /etc/shadow', 'su -c true', ...nested]) {
        assert.notEqual((await run(sandbox, `(${attempt}) 2>/dev/null </dev/null`)).code, 0, attempt);
      }
      await run(sandbox, 'sleep 300 >/dev/null 2>&1 &');
      await sandbox.killAll();
      assert.deepEqual((await commandLines(sandbox)).filter((line) => line.includes('sleep 300')), []);
    });

    it('is found by its name in the image, with its group and home', async () => {
      const sandbox = await bench.restore({ user: 'games' });
      assert.equal(await output(sandbox, 'echo $(id -un) $(id -gn) $HOME'), 'games games /usr/games\n');
      await assert.rejects(bench.restore({ user: 'nobody-here' }), /no user nobody-here/);
    });

    it('owns the files that are sent in, and sees those that it may', async () => {
      const sandbox = await bench.restore({ user: '1234:1234' });
      await sandbox.files.write('/tmp/a b/c', 'text ünï', { mode: 0o640 });
      await sandbox.files.mkdir('/tmp/made');
      const tar = pack();
      tar.entry({ name: 'd/link', type: 'symlink', linkname: 'f' });
      tar.entry({ name: 'd/f', mode: 0o600 }, 'in a tar');
      tar.finalize();
      await sandbox.files.upload(Readable.from(tar, { objectMode: false }), '/tmp/up');
      assert.equal(await output(sandbox, 'cd /tmp; stat -c "%u:%g %a %n" "a b/c" made up/d/f'), '1234:1234 640 a b/c\n1234:1234 755 made\n1234:1234 600 up/d/f\n');
      assert.equal(await text(await sandbox.files.read('/tmp/up/d/link')), 'in a tar');
      assert.equal(await text(await sandbox.files.read('/tmp/a b/c', { offset: 5 })), 'ünï');
      assert.equal(await text(await sandbox.files.read('/srv/task/link')), 'prepared\n');
      assert.deepEqual((await sandbox.files.list('/tmp/up/d')).map(({ name, type, link }) => `${name} ${type} ${link}`).sort(), ['f file false', 'link file true']);
      assert.deepEqual(await names(await sandbox.files.download(['/tmp/up/**/f', '/tmp/a*'])), ['tmp/a b/c', 'tmp/up/d/f']);
      await assert.rejects(async () => text(await sandbox.files.read('/etc/shadow')), SandboxError);
      await assert.rejects(sandbox.files.write('/srv/task/mine', 'x'), SandboxError);
      await sandbox.files.remove('/tmp/up');
      assert.equal((await run(sandbox, 'test -e /tmp/up')).code, 1);
    });

    it('and a read-only root go together', async function () {
      if (!bench.provider.capabilities.readOnly) skip(this, 'the provider has no read-only root');
      const sandbox = await bench.restore({ user: '1234:1234', writable: [], workdir: '/tmp/work' });
      assert.equal(await output(sandbox, 'pwd; echo x > /tmp/x; cat /tmp/x'), '/tmp/work\nx\n');
      assert.notEqual((await run(sandbox, 'echo x > /srv/task/x')).code, 0);
    });
  });

  describe('a read-only root', () => {
    beforeEach(function () {
      if (!bench.provider.capabilities.readOnly) skip(this, 'the provider has no read-only root');
    });

    it('can be written to in /tmp and in the folders that are named, which hold what the snapshot has', async () => {
      const sandbox = await bench.restore({ writable: ['/srv/task', '/srv/task/nested', '/var/missing'] });
      for (const path of ['/etc/x', '/srv/x', '/usr/x', '/root/x', '/x']) assert.match((await run(sandbox, `echo x > ${path}`)).stderr, /Read-only|Permission denied/, path);
      assert.equal(await output(sandbox, 'echo more >> /srv/task/state; cat /srv/task/link; for d in /tmp /var/missing /dev/shm; do echo x > $d/x && cat $d/x; done'), 'prepared\nmore\nx\nx\nx\n');
      assert.notEqual((await run(sandbox, 'mount -o remount,rw / 2>/dev/null')).code, 0);
      await sandbox.files.write('/srv/task/deep/file', 'written');
      assert.equal(await text(await sandbox.files.read('/srv/task/deep/file')), 'written');
      assert.equal(await output(sandbox, 'cat /srv/task/deep/file', { stdin: '' }), 'written');
      await assert.rejects(sandbox.files.write('/etc/file', 'x'), SandboxError);
      assert.deepEqual(await names(await sandbox.files.download(['/srv/task/**'])), ['srv/task/deep/file', 'srv/task/link', 'srv/task/state']);
      // What cannot be told is refused, and not told in part.
      const told = await sandbox.changes().catch((error: unknown) => (assert.ok(error instanceof Unsupported, String(error)), undefined));
      if (told) assert.ok(told.some(({ path, kind }) => path === '/srv/task/state' && kind === 'modified'));
    });
  });
}

/** Of what is no folder in an archive. */
async function names(archive: Readable): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of archive.pipe(extract())) {
    await buffer(entry);
    const { type, name } = (entry as unknown as { header: { type: string; name: string } }).header;
    if (type !== 'directory') found.push(name);
  }
  return found.sort();
}
