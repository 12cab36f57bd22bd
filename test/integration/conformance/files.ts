import { strict as assert } from 'node:assert';
import { mkdtemp, readFile, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { extractArchive } from '../../../src/sandbox/archive.js';
import { NoSuchFile, SandboxError } from '../../../src/sandbox/errors.js';
import type { Sandbox } from '../../../src/sandbox/provider.js';
import { output, run, type Bench } from './bench.js';

const MEBIBYTE = 1 << 20;
const content = async (sandbox: Sandbox, path: string, maxBytes?: number): Promise<string> => text(await sandbox.files.read(path, { maxBytes }));

/** Names that are not to be taken for anything else. */
const NAMES = ['plain', 'with space', 'ünïcödé 🎲', 'new\nline', '-dash', '$(id)', "quote'd", 'star*', 'back\\slash'];

export function files(bench: Bench): void {
  describe('files', () => {
    it('are written and read, whatever their name', async () => {
      const sandbox = await bench.restore();
      for (const name of NAMES) {
        const path = `/srv/a/b/${name}`;
        await sandbox.files.write(path, `in ${name}`);
        assert.equal(await content(sandbox, path), `in ${name}`);
      }
      assert.equal((await output(sandbox, 'ls -A /srv/a/b | wc -l')).trim(), String(NAMES.length + 1));
    });

    it('are written with their mode, from text, bytes and streams, over what was there', async () => {
      const sandbox = await bench.restore();
      await sandbox.files.write('/srv/x', 'a much longer text', { mode: 0o600 });
      await sandbox.files.write('/srv/x', new Uint8Array([0, 255, 10]));
      await sandbox.files.write('/srv/y', Readable.from([Buffer.from('one '), Buffer.from('two')]), { mode: 0o755 });
      await sandbox.files.write('/srv/empty', '');
      assert.equal(await output(sandbox, 'stat -c "%a %s %n" /srv/x /srv/y /srv/empty'), '644 3 /srv/x\n755 7 /srv/y\n644 0 /srv/empty\n');
      assert.equal(await content(sandbox, '/srv/empty'), '');
    });

    it('that are missing, or are folders, say so', async () => {
      const sandbox = await bench.restore();
      for (const path of ['/srv/missing', '/missing/too', '/srv/task/state/below', '/srv/../srv/missing']) await assert.rejects(sandbox.files.read(path), NoSuchFile, path);
      await assert.rejects(sandbox.files.read('/srv/task'), SandboxError);
      await run(sandbox, 'ln -s nowhere /srv/dangling; mkfifo /srv/fifo');
      await assert.rejects(sandbox.files.read('/srv/dangling'), NoSuchFile);
      await assert.rejects(sandbox.files.read('/srv/fifo'), SandboxError, 'a pipe would be waited for without end');
      await assert.rejects(sandbox.files.write('/srv/task', 'x'), SandboxError);
    });

    it('are cut with an error after the most bytes', async () => {
      const sandbox = await bench.restore();
      await sandbox.files.write('/srv/ten', '0123456789');
      assert.equal(await content(sandbox, '/srv/ten', 10), '0123456789');
      await assert.rejects(content(sandbox, '/srv/ten', 9), SandboxError);
      await assert.rejects(content(sandbox, '/dev/zero', MEBIBYTE), SandboxError);
    });

    it('are removed with all below, and what is not there is no error', async () => {
      const sandbox = await bench.restore();
      await run(sandbox, 'mkdir -p "/srv/d/-rf x"; touch "/srv/d/-rf x/f"; ln -s /srv/task /srv/d/l');
      await sandbox.files.remove('/srv/d');
      await sandbox.files.remove('/srv/d');
      assert.equal(await output(sandbox, 'ls /srv; cat /srv/task/state'), 'task\nprepared\n');
    });

    it('follow links inside, never on the host', async () => {
      const sandbox = await bench.restore();
      const marker = `inside-${process.pid}`;
      await run(sandbox, `echo ${marker} > /srv/target; ln -s /srv/target /srv/absolute; ln -s ../../../../../../../../srv/target /srv/task/up; ln -s / /srv/root`);
      for (const path of ['/srv/absolute', '/srv/task/up', '/srv/root/srv/target']) assert.equal(await content(sandbox, path), `${marker}\n`);
      const host = join(await mkdtemp(join(tmpdir(), 'rl-host-')), 'file');
      await run(sandbox, ['sh', '-c', 'ln -s "$1" /srv/host', 'sh', host]);
      await assert.rejects(sandbox.files.read('/srv/host'), NoSuchFile);
      await sandbox.files.write('/srv/host', 'stays inside').catch(() => undefined);
      await assert.rejects(readFile(host));
      await rm(join(host, '..'), { recursive: true });
    });

    it('are uploaded as a tar, with modes, links and empty folders', async () => {
      const sandbox = await bench.restore();
      const tar = pack();
      tar.entry({ name: 'bin', type: 'directory', mode: 0o755 });
      tar.entry({ name: 'bin/tool', mode: 0o755 }, '#!/bin/sh\necho tool\n');
      tar.entry({ name: 'link', type: 'symlink', linkname: 'bin/tool' });
      tar.entry({ name: 'empty', type: 'directory', mode: 0o700 });
      for (const name of NAMES) tar.entry({ name }, name);
      tar.finalize();
      await sandbox.files.upload(Readable.from(tar, { objectMode: false }), '/opt/up loaded/here');
      assert.equal(await output(sandbox, ['/opt/up loaded/here/link']), 'tool\n');
      assert.equal(await output(sandbox, 'stat -c %a "/opt/up loaded/here/empty"'), '700\n');
      for (const name of NAMES) assert.equal(await content(sandbox, `/opt/up loaded/here/${name}`), name);
    });

    it('report an upload that is broken', async () => {
      const sandbox = await bench.restore();
      await assert.rejects(sandbox.files.upload(Readable.from([Buffer.alloc(4096, 'no tar')]), '/srv/up'), SandboxError);
      const failing = new Readable({ read() { this.destroy(new Error('source failed')); } });
      await assert.rejects(sandbox.files.upload(failing, '/srv/up'), /source failed/);
      assert.equal(await output(sandbox, 'echo alive'), 'alive\n');
    });

    it('are downloaded by patterns', async () => {
      const sandbox = await bench.restore();
      const folder = await mkdtemp(join(tmpdir(), 'rl-download-'));
      try {
        await run(sandbox, 'mkdir -p /srv/o/sub/deep /srv/o/empty; cd /srv/o; echo 1 > a.txt; echo 2 > b.log; echo 3 > sub/c.txt; echo 4 > sub/deep/d.txt; echo 5 > .hidden; ln -s a.txt l; ln -s /etc/passwd out');
        for (const name of NAMES) await sandbox.files.write(`/srv/names/${name}`, name);
        const get = async (...patterns: string[]): Promise<string[]> => {
          const to = await mkdtemp(join(folder, 'd'));
          await extractArchive(await sandbox.files.download(patterns), to, { maxBytes: MEBIBYTE, maxFiles: 1000 });
          return (await readdir(to, { recursive: true, withFileTypes: true })).filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name).slice(to.length)).sort();
        };
        assert.deepEqual(await get('/srv/o/*.txt'), ['/srv/o/a.txt']);
        assert.deepEqual(await get('/srv/o/[ab].*', '/srv/o/a.txt'), ['/srv/o/a.txt', '/srv/o/b.log']);
        assert.deepEqual(await get('/srv/o/?.txt'), ['/srv/o/a.txt']);
        assert.deepEqual(await get('/srv/o/**/*.txt'), ['/srv/o/a.txt', '/srv/o/sub/c.txt', '/srv/o/sub/deep/d.txt']);
        assert.deepEqual(await get('/srv/o/sub'), ['/srv/o/sub/c.txt', '/srv/o/sub/deep/d.txt'], 'a folder is all that is in it');
        assert.deepEqual(await get('/srv/o/l', '/srv/o/out'), ['/srv/o/l'], 'a link is sent as a link, and one that leads outside is not kept');
        assert.deepEqual(await get('/srv/names/**'), NAMES.map((name) => `/srv/names/${name}`).sort());
        assert.deepEqual(await get('/srv/none/*', '/nowhere'), []);
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it('that are links to /etc/passwd never bring the host\'s file', async () => {
      const sandbox = await bench.restore();
      await run(sandbox, 'ln -s /etc/passwd /srv/p; ln -s ../etc /srv/e');
      const folder = await mkdtemp(join(tmpdir(), 'rl-links-'));
      try {
        await extractArchive(await sandbox.files.download(['/srv/p', '/srv/e']), folder, { maxBytes: MEBIBYTE, maxFiles: 9 });
        assert.deepEqual(await readdir(join(folder, 'srv')).catch(() => []), ['e']);
        assert.equal(await readlink(join(folder, 'srv/e')), '../etc');
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it('of 200 MB stream both ways in bounded memory', async function () {
      this.timeout(300_000);
      const sandbox = await bench.restore({ resources: { disk: 512 * MEBIBYTE } });
      const chunk = Buffer.alloc(MEBIBYTE, 'abc');
      await sandbox.files.write('/srv/warm', chunk);
      await content(sandbox, '/srv/warm');
      const before = process.memoryUsage().rss;
      let peak = 0;
      const watch = (): void => { peak = Math.max(peak, process.memoryUsage().rss - before); };
      await sandbox.files.write('/srv/big', Readable.from((function* () { for (let part = 0; part < 200; part++) { watch(); yield chunk; } })()));
      assert.equal((await output(sandbox, 'wc -c < /srv/big')).trim(), String(200 * MEBIBYTE));
      let total = 0;
      for await (const part of await sandbox.files.read('/srv/big')) {
        total += (part as Buffer).length;
        watch();
      }
      assert.equal(total, 200 * MEBIBYTE);
      assert.ok(peak < 100 * MEBIBYTE, `${Math.round(peak / MEBIBYTE)} MiB held`);
    });

    it('survive a reader that goes away', async () => {
      const sandbox = await bench.restore();
      await run(sandbox, 'head -c 5000000 /dev/zero > /srv/big');
      const stream = await sandbox.files.read('/srv/big');
      await new Promise((resolve) => stream.once('data', resolve));
      stream.destroy();
      assert.equal(await output(sandbox, 'echo alive'), 'alive\n');
    });
  });
}
