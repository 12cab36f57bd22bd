import { strict as assert } from 'node:assert';
import { chmod, lstat, mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pack, type Header } from 'tar-stream';
import { extractArchive, packDirectory } from '../../../src/sandbox/archive.js';
import { LimitExceeded, SandboxError } from '../../../src/sandbox/errors.js';

const limits = { maxBytes: 1 << 20, maxFiles: 100 };

/** A tar stream of entries as given, however wrong they are. */
function tarOf(...entries: (Partial<Header> & { name: string; body?: string })[]): Readable {
  const tar = pack();
  for (const { body, ...header } of entries) tar.entry(header, body ?? '');
  tar.finalize();
  return Readable.from(tar, { objectMode: false });
}

describe('archive', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rl-archive-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('packs and unpacks modes, links, empty folders and names of any kind', async () => {
    const from = join(folder, 'from');
    await mkdir(join(from, 'empty/inner'), { recursive: true });
    await mkdir(join(from, 'a b\nc'));
    const long = `${'x'.repeat(120)}/${'y'.repeat(200)}`;
    await mkdir(join(from, 'x'.repeat(120)));
    for (const name of ['plain', 'a b\nc/ünïcödé 🎲', long]) await writeFile(join(from, name), `content of ${name}`);
    await writeFile(join(from, 'zero'), '');
    await chmod(join(from, 'plain'), 0o4755);
    await symlink('plain', join(from, 'link'));
    await symlink('/etc/passwd', join(from, 'absolute'));

    const skipped: string[] = [];
    const to = join(folder, 'to');
    const files = await extractArchive(packDirectory(from), to, { ...limits, onSkip: (name) => skipped.push(name) });

    assert.deepEqual(files.map((file) => file.path).sort(), ['a b\nc/ünïcödé 🎲', 'link', long, 'plain', 'zero'].sort());
    assert.equal(await readFile(join(to, 'a b\nc/ünïcödé 🎲'), 'utf8'), 'content of a b\nc/ünïcödé 🎲');
    assert.equal((await lstat(join(to, 'plain'))).mode & 0o7777, 0o755);
    assert.equal(await readlink(join(to, 'link')), 'plain');
    assert.ok((await lstat(join(to, 'empty/inner'))).isDirectory());
    assert.deepEqual(skipped, ['absolute']);
  });

  it('gives the same bytes for the same content', async () => {
    const bytes = async (): Promise<Buffer> => Buffer.concat((await packDirectory(folder).toArray()) as Buffer[]);
    await writeFile(join(folder, 'b'), '1');
    await writeFile(join(folder, 'a'), '2');
    const first = await bytes();
    await writeFile(join(folder, 'a'), '2');
    assert.ok(first.equals(await bytes()));
  });

  it('writes nothing outside the folder, whatever the names say', async () => {
    const to = join(folder, 'to');
    const outside = join(folder, 'outside');
    await mkdir(outside);
    const skipped: string[] = [];
    const made = await extractArchive(
      tarOf(
        { name: '../outside/a', body: 'x' },
        { name: join(outside, 'b'), body: 'x' },
        { name: 'ok/../../outside/c', body: 'x' },
        { name: 'door', type: 'symlink', linkname: '../outside' },
        { name: 'door/d', body: 'x' },
        { name: 'up', type: 'symlink', linkname: '..' },
        { name: 'fifo', type: 'fifo' },
        { name: 'device', type: 'character-device', devmajor: 1, devminor: 3 },
        { name: 'hard', type: 'link', linkname: '../../etc/passwd' },
        { name: 'fine', body: 'yes' },
        { name: 'twin', type: 'link', linkname: 'fine' },
      ),
      to,
      { ...limits, onSkip: (name) => skipped.push(name) },
    );
    assert.deepEqual(await lstat(outside).then((info) => info.nlink), 2);
    assert.deepEqual(made.map((file) => file.path), ['door/d', 'fine', 'twin']);
    assert.equal(await readFile(join(to, 'twin'), 'utf8'), 'yes');
    assert.deepEqual(skipped.sort(), ['../outside/a', join(outside, 'b'), 'device', 'door', 'fifo', 'hard', 'ok/../../outside/c', 'up'].sort());
  });

  it('never writes through a link that was there before', async () => {
    const to = join(folder, 'to');
    await mkdir(to);
    await writeFile(join(folder, 'victim'), 'safe');
    await mkdir(join(folder, 'victims'));
    await symlink('../victim', join(to, 'file'));
    await symlink('../victims', join(to, 'dir'));
    const skipped: string[] = [];
    await extractArchive(tarOf({ name: 'file', body: 'x' }, { name: 'dir/x', body: 'x' }), to, { ...limits, onSkip: (name) => skipped.push(name) });
    assert.equal(await readFile(join(folder, 'victim'), 'utf8'), 'safe');
    assert.deepEqual(skipped, ['file', 'dir/x']);
  });

  it('follows links link by link, so that none that leads outside is made', async () => {
    const to = join(folder, 'to');
    const made = await extractArchive(
      tarOf(
        { name: 'a/b/l', type: 'symlink', linkname: '../..' },
        { name: 'sly', type: 'symlink', linkname: 'a/b/l/..' },
        { name: 'loop', type: 'symlink', linkname: 'loop' },
        { name: 'good', type: 'symlink', linkname: 'a/b/l/target' },
      ),
      to,
      limits,
    );
    assert.deepEqual(made.map((file) => file.path), ['a/b/l', 'good']);
  });

  it('keeps its limits while the stream runs', async () => {
    const endless = new Readable({ read() {} });
    const tar = tarOf({ name: 'big', body: 'x'.repeat(3000) });
    for await (const chunk of tar) endless.push(chunk);
    // The stream never ends: only a check on the way can stop it.
    await assert.rejects(extractArchive(endless, folder, { maxBytes: 2999, maxFiles: 9 }), LimitExceeded);
    assert.ok(endless.destroyed);
    await assert.rejects(extractArchive(tarOf({ name: 'a' }, { name: 'b' }), folder, { maxBytes: 9, maxFiles: 1 }), LimitExceeded);
  });

  it('reports a torn or foreign stream, and stops on a signal', async () => {
    const whole = Buffer.concat((await tarOf({ name: 'a', body: 'x'.repeat(2000) }).toArray()) as Buffer[]);
    await assert.rejects(extractArchive(Readable.from([whole.subarray(0, 1500)]), folder, limits), SandboxError);
    await assert.rejects(extractArchive(Readable.from([Buffer.alloc(2048, 'garbage')]), folder, limits), SandboxError);
    const reason = new Error('stop');
    const abort = new AbortController();
    const waiting = extractArchive(new Readable({ read() {} }), folder, { ...limits, signal: abort.signal });
    abort.abort(reason);
    await assert.rejects(waiting, reason);
  });
});
