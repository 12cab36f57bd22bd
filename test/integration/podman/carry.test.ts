/** Memory snapshots out into a stream and in again, where another Podman is and another user's key: what goes on there, and what is taken from nobody. */
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { extract, pack } from 'tar-stream';
import { podmanApart } from '../../../scripts/setup/podman.mjs';
import { runCommand } from '../../../src/sandbox/command.js';
import { createProvider } from '../../../src/sandbox/podman/index.js';
import type { Head } from '../../../src/sandbox/podman/carried.js';
import { Seals } from '../../../src/sandbox/podman/seal.js';
import type { Provider, ProviderSnapshot } from '../../../src/sandbox/provider.js';
import { skip } from '../../support/skip.js';
import { Bench, output } from '../conformance/bench.js';
import { counted, next } from '../conformance/counter.js';
import { podmanSubject, type PodmanSubject } from './subject.js';

interface Parts {
  readonly head: Head;
  readonly archive: Buffer;
  readonly image: Buffer;
}

describe('podman memory snapshots in a stream', function () {
  this.timeout(180_000);
  const bench = new Bench();
  let subject: PodmanSubject;
  let root: string;
  let apart: Awaited<ReturnType<typeof podmanApart>>;
  /** On the service of the tests, as one user; on another service, as another. */
  let here: Provider;
  let there: Provider;
  let snapshot: ProviderSnapshot;
  let parts: Parts;

  const settings = (who: string): string => join(root, who);
  const sealsOf = (who: string): Seals => new Seals(join(settings(who), 'rl-sandboxes'));
  const trusted = (): string => join(settings('other'), 'rl-sandboxes', 'memory-snapshots.trusted');
  const provider = (who: string, host: string, stateDir: string): Provider => createProvider({ stateDir, log: console.error, environment: { ...process.env, CONTAINER_HOST: host, XDG_CONFIG_HOME: settings(who) } });
  const podman = async (...args: string[]): Promise<string> => (await runCommand('podman', ['--url', apart.host, ...args])).stdout;

  before(async function () {
    this.timeout(600_000);
    subject = await podmanSubject();
    await bench.start(subject);
    if (subject.noMemorySnapshots) skip(this, subject.noMemorySnapshots);
    if (process.getuid?.() !== 0) skip(this, 'only root starts another service that can checkpoint');
    root = await mkdtemp(join(tmpdir(), 'rl-carry-'));
    apart = await podmanApart(join(root, 'podman'));
    here = provider('one', process.env.CONTAINER_HOST!, subject.context.stateDir);
    there = provider('other', apart.host, join(root, 'state'));
    const source = await counted(await here.restore(bench.snapshot, await bench.spec()), 3);
    await output(source, 'echo file > /srv/file');
    snapshot = await source.snapshot('memory');
    await source.terminate();
    const whole = await buffer(await here.exportSnapshot(snapshot));
    const end = whole.indexOf(10) + 1;
    const head = JSON.parse(whole.subarray(0, end).toString()) as Head;
    parts = { head, archive: whole.subarray(end, end + head.bytes), image: whole.subarray(end + head.bytes) };
  });
  after(async () => {
    if (snapshot) await here.removeSnapshot(snapshot);
    await here?.close();
    await there?.close();
    await bench.stop();
    await apart?.stop();
    if (root) await rm(root, { recursive: true, force: true });
  });

  /** As `who` would write it. */
  const sealed = async (who: string, { head, archive, image }: Parts): Promise<Readable> => {
    const { ref, about, bytes, layers } = head;
    const format = 'rl-sandboxes-memory-1';
    const seal = await sealsOf(who).seal(JSON.stringify([format, ref, about, bytes, layers]));
    return Readable.from([Buffer.from(`${JSON.stringify({ format, ref, about, bytes, layers, seal })}\n`), archive, image], { objectMode: false });
  };
  const asIs = ({ head, archive, image }: Parts): Readable => Readable.from([Buffer.from(`${JSON.stringify(head)}\n`), archive, image], { objectMode: false });
  const withArchive = (archive: Buffer, { head, image }: Parts): Parts => ({ head: { ...head, bytes: archive.length, ref: createHash('sha256').update(head.about).update(archive).digest('hex') }, archive, image });
  const refused = async (data: Readable, why: RegExp): Promise<void> => {
    await assert.rejects(there.importSnapshot(data, 'memory'), why);
    assert.deepEqual(await readdir(join(root, 'state', 'memory')).catch(() => []), [], String(why));
    assert.equal(await podman('images', '--all', '--quiet'), '', String(why));
  };

  it('of somebody else are refused, whatever they say, and nothing of them reaches the engine', async () => {
    const key = (await sealsOf('one').seal('')).key;
    await refused(asIs(parts), new RegExp(`made by the key ${key}, which is not yours: .* as a line to ${trusted()}`));
    // What Podman would make a container of that has the machine in it.
    const evil = await rewritten(parts.archive, (name, body) => {
      if (name !== 'config.dump' && name !== 'spec.dump') return body;
      const config = JSON.parse(body.toString()) as { spec?: { mounts: object[]; hooks?: object }; mounts?: object[]; hooks?: object; privileged?: boolean };
      const spec = config.spec ?? config;
      (spec.mounts as object[]).push({ destination: '/host', type: 'bind', source: '/', options: ['rbind', 'rw'] });
      spec.hooks = { createRuntime: [{ path: '/bin/sh', args: ['sh', '-c', `touch ${join(root, 'owned')}`] }] };
      return Buffer.from(JSON.stringify({ ...config, privileged: true }));
    }, [{ name: '../outside', body: 'x' }, { name: 'link', linkname: '/etc' }]);
    await refused(await sealed('stranger', withArchive(evil, parts)), /which is not yours/);
    await refused(asIs(withArchive(evil, parts)), /not what its maker has signed/);
    await refused(asIs({ ...parts, head: { ...parts.head, about: parts.head.about.replace('"offline":true', '"offline":false') } }), /not what its maker has signed/);
    await refused(asIs({ ...parts, archive: evil.subarray(0, parts.archive.length) }), /not yours/);
    for (const junk of ['', '\n', '{}\n', '{"format":"rl-sandboxes-memory-9"}\n', 'x'.repeat(300_000)]) await refused(Readable.from([Buffer.from(junk)], { objectMode: false }), /holds no memory snapshot|this version reads/);
    assert.ok(!(await readdir(root)).includes('owned'));
  });

  it('of somebody who is trusted are taken whole, or not at all', async () => {
    await sealsOf('other').seal('');
    const { key } = await sealsOf('one').seal('');
    await appendFile(trusted(), `# who works on the next machine\n${key} one\n`);
    await chmod(trusted(), 0o666);
    await refused(asIs(parts), /memory-snapshots.trusted is not yours alone/);
    await chmod(trusted(), 0o644);
    const { head, archive, image } = parts;
    await refused(asIs({ ...parts, archive: Buffer.concat([Buffer.from([archive[0]! ^ 1]), archive.subarray(1)]) }), /is not what it was when it was taken/);
    await refused(Readable.from([Buffer.from(`${JSON.stringify(head)}\n`), archive.subarray(0, 5000)], { objectMode: false }), /is cut/);
    await refused(asIs({ ...parts, image: image.subarray(0, image.length >> 1) }), /./);
    await refused(asIs({ ...parts, image: await otherImage() }), /not the one that it was taken with/);
    const older = head.about.replace(/"podman":"[^"]*"/, '"podman":"3.0.1"');
    assert.notEqual(older, head.about);
    await refused(await sealed('one', { ...parts, head: { ...head, about: older } }), /was made with Podman 3\.0\.1.*, and here are Podman [\d.]+.*; take along a snapshot of the files$/);
  });

  it('go on in another engine from where they were, and when they are removed nothing of them is left', async () => {
    const imported = await there.importSnapshot(asIs(parts), 'memory');
    assert.notEqual(imported.ref, snapshot.ref, 'each that is taken in stands for itself');
    assert.ok(await there.hasSnapshot(imported));
    const copies = await Promise.all([1, 2].map(async () => there.restore(imported, await bench.spec())));
    for (const copy of copies) assert.equal(await next(copy), 4);
    assert.equal(await output(copies[0]!, 'cat /srv/file; cat /srv/task/state'), 'file\nprepared\n');
    // It is exported by whoever has it, as theirs.
    const again = await there.exportSnapshot(imported);
    const [first] = (await once(again, 'data')) as [Buffer];
    again.destroy();
    assert.equal((JSON.parse(first.subarray(0, first.indexOf(10)).toString()) as { seal: { key: string } }).seal.key, (await sealsOf('other').seal('')).key);
    await Promise.all(copies.map((copy) => copy.terminate()));
    await there.removeSnapshot(imported);
    assert.equal(await there.hasSnapshot(imported), false);
    assert.equal(await podman('images', '--all', '--quiet'), '');
    assert.equal(await podman('ps', '--all', '--quiet'), '');
  });

  /** A snapshot, and another one. */
  async function otherImage(): Promise<Buffer> {
    const sandbox = await here.restore(bench.snapshot, await bench.spec());
    await output(sandbox, 'echo other > /srv/other');
    const other = await sandbox.snapshot('filesystem');
    await sandbox.terminate();
    try {
      return await buffer(await here.exportSnapshot(other));
    } finally {
      await here.removeSnapshot(other);
    }
  }
});

async function rewritten(archive: Buffer, change: (name: string, body: Buffer) => Buffer, more: readonly { readonly name: string; readonly body?: string; readonly linkname?: string }[]): Promise<Buffer> {
  const [parser, to] = [extract(), pack()];
  parser.end(archive);
  for await (const entry of parser) {
    const { header } = entry as unknown as { header: { name: string } };
    const body = change(header.name, await buffer(entry));
    to.entry({ ...header, size: body.length, pax: undefined }, body);
  }
  for (const { name, body, linkname } of more) {
    if (linkname === undefined) to.entry({ name }, body ?? '');
    else to.entry({ name, type: 'symlink', linkname });
  }
  to.finalize();
  return buffer(to);
}
