/** Images: built, pulled, refused, snapshotted, unpacked. */
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportRootfs } from '../../../src/sandbox/docker/export.js';
import { BuildFailed, Unsupported } from '../../../src/sandbox/errors.js';
import type { BaseImage, ProviderSnapshot } from '../../../src/sandbox/provider.js';
import { Bench, output, run } from '../conformance/bench.js';
import { dockerSubject, type DockerSubject } from './subject.js';

describe('docker images', function () {
  this.timeout(120_000);
  const bench = new Bench();
  let subject: DockerSubject;
  let folder: string;
  const namesBefore = new Set<string>();

  const dockerfile = async (text: string, files: Record<string, string> = {}): Promise<BaseImage> => {
    const context = await mkdtemp(join(folder, 'context-'));
    await writeFile(join(context, 'Dockerfile'), text.replaceAll('BASE', subject.image));
    for (const [name, content] of Object.entries(files)) await writeFile(join(context, name), content);
    return { dockerfile: { file: join(context, 'Dockerfile'), context } };
  };
  const create = async (base: BaseImage) => bench.provider.create(base, await bench.spec());

  before(async function () {
    this.timeout(600_000);
    folder = await mkdtemp(join(tmpdir(), 'rl-images-'));
    subject = await dockerSubject();
    for (const { RepoTags } of await subject.docker.listImages()) for (const tag of RepoTags ?? []) namesBefore.add(tag);
    await bench.start(subject);
  });
  afterEach(() => bench.terminateAll());
  after(async () => {
    for (const { RepoTags } of await subject.docker.listImages({ filters: { reference: ['rl-sandboxes/build'] } }))
      for (const tag of RepoTags ?? []) if (!namesBefore.has(tag)) await subject.docker.getImage(tag).remove();
    await bench.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('are built from a Dockerfile, with its output as it comes; equal content has an equal digest', async () => {
    const base = await dockerfile(`FROM BASE\nCOPY . /ctx/\nRUN echo "ünï output ${Date.now()}" && echo built > /built\nENV FROM_IMAGE=yes\n`, { 'a.txt': 'a', 'b.log': 'b', '.dockerignore': '*.log\n' });
    const seen: Buffer[] = [];
    const digest = await bench.provider.resolve(base, { onOutput: (chunk) => seen.push(Buffer.from(chunk)) });
    assert.match(digest, /^sha256:[0-9a-f]{64}$/);
    const text = Buffer.concat(seen).toString();
    assert.match(text, /Step 3\/4 : RUN/);
    assert.match(text, /^ünï output \d+$/m);
    assert.equal(await bench.provider.resolve(base), digest);
    const sandbox = await create(base);
    assert.equal(await output(sandbox, 'cat /built; ls /ctx; echo $FROM_IMAGE'), 'built\nDockerfile\na.txt\nyes\n');
    await sandbox.terminate();
    await writeFile(join(base.dockerfile!.context, 'a.txt'), 'changed');
    assert.notEqual(await bench.provider.resolve(base), digest);
  });

  it('that fail to build say with what output', async () => {
    const failing = bench.provider.resolve(await dockerfile('FROM BASE\nRUN echo before && echo wrong >&2 && exit 3\n'));
    await assert.rejects(failing, (error: BuildFailed) => error instanceof BuildFailed && /returned a non-zero code: 3/.test(error.message) && /before/.test(error.output.split('Running in')[1]!) && /wrong/.test(error.output));
    await assert.rejects(bench.provider.resolve(await dockerfile('FRUM BASE\n')), (error: Error) => error instanceof BuildFailed && /FRUM/i.test(error.message));
    await assert.rejects(bench.provider.resolve(await dockerfile('FROM BASE\nCOPY missing /x\n')), BuildFailed);
    await assert.rejects(bench.provider.resolve({ dockerfile: { file: join(folder, 'none'), context: folder } }), BuildFailed);
  });

  it('are no longer built once nobody waits', async () => {
    const abort = new AbortController();
    const base = await dockerfile('FROM BASE\nRUN echo started && sleep 60\n');
    const building = bench.provider.resolve(base, { signal: abort.signal, onOutput: (chunk) => Buffer.from(chunk).includes('started') && abort.abort(new Error('stop')) });
    await assert.rejects(building, /stop/);
  });

  it('that do not exist are one clear sentence', async () => {
    for (const image of ['localhost:1/no/such:image', 'no-such-image-of-rl-sandboxes:1', 'NOT A REFERENCE'])
      await assert.rejects(async () => bench.provider.resolve({ image }), (error: Error) => error instanceof BuildFailed && error.message.includes(image) && !error.message.includes('\n'), image);
    await assert.rejects(async () => bench.provider.resolve({ image: '/some/folder' }), Unsupported);
  });

  it('without a shell are refused', async () => {
    const base = await dockerfile('FROM scratch\nCOPY a.txt /\n', { 'a.txt': 'a' });
    await assert.rejects(create(base), (error: Error) => error instanceof BuildFailed && /has no \/bin\/sh/.test(error.message));
    assert.deepEqual(await subject.containers(), []);
  });

  it('keep their own user, command and entry point in a snapshot; setup is root, episodes are not', async () => {
    const base = await dockerfile('FROM BASE\nRUN useradd -m agent\nUSER agent\nWORKDIR /home/agent\nENTRYPOINT ["/usr/bin/env"]\nCMD ["echo", "it\'s me"]\n');
    const setup = await create(base);
    assert.equal(await output(setup, 'id -un; touch /root-only; pwd'), 'root\n/home/agent\n');
    const snapshot = await setup.snapshot('filesystem');
    try {
      await setup.terminate();
      const { Config } = await subject.docker.getImage(snapshot.ref).inspect();
      assert.deepEqual([Config.User, Config.Entrypoint, Config.Cmd], ['agent', ['/usr/bin/env'], ['echo', "it's me"]]);
      const episode = await bench.restore({}, snapshot);
      assert.equal(await output(episode, 'id -un; pwd; ls /root-only; touch mine; getent hosts localhost | wc -l'), 'agent\n/home/agent\n/root-only\n1\n');
      assert.notEqual((await run(episode, 'touch /root-only')).code, 0);
      await episode.killAll();
      assert.equal(await output(episode, 'id -un'), 'agent\n');
    } finally {
      await bench.terminateAll();
      await bench.provider.removeSnapshot(snapshot);
    }
  });

  it('of snapshots that a person starts are no sandboxes', async () => {
    const container = await subject.docker.createContainer({ Image: bench.snapshot.ref, Cmd: ['sleep', '60'] });
    try {
      await container.start();
      const { Names } = (await subject.docker.listContainers({ filters: { id: [container.id] } }))[0]!;
      assert.deepEqual((await bench.provider.list()).filter(({ id }) => Names[0]!.includes(id)), []);
      const { Labels } = (await container.inspect()).Config;
      assert.equal(Labels['rl-sandboxes.snapshot'], '1');
    } finally {
      await container.remove({ force: true });
    }
  });

  it('of one snapshot are not lost with those built on them', async () => {
    const first = await bench.create();
    await output(first, 'echo 1 > /srv/first');
    const one = await first.snapshot('filesystem');
    const second = await bench.restore({}, one);
    await output(second, 'echo 2 > /srv/second');
    const two: ProviderSnapshot = await second.snapshot('filesystem');
    await bench.terminateAll();
    await bench.provider.removeSnapshot(two);
    assert.equal(await bench.provider.hasSnapshot(one), true);
    assert.equal(await output(await bench.restore({}, one), 'cat /srv/first'), '1\n');
    await bench.terminateAll();
    await bench.provider.removeSnapshot(one);
  });

  it('are unpacked into a folder, with owners, modes and links', async () => {
    const base = await dockerfile('FROM BASE\nRUN mkdir /x && echo hi > /x/f && chown 33:44 /x/f && chmod 640 /x/f && ln -s f /x/l\nENV A="b=c"\nWORKDIR /x\n');
    const image = await bench.provider.resolve(base);
    const target = join(folder, 'root');
    await mkdir(target);
    const exported = await exportRootfs(image, target);
    assert.equal(exported.digest, image);
    assert.equal(exported.env.A, 'b=c');
    assert.equal(exported.workdir, '/x');
    assert.equal(await readFile(join(target, 'x/l'), 'utf8'), 'hi\n');
    const { uid, gid, mode } = await stat(join(target, 'x/f'));
    if (process.getuid?.() === 0) assert.deepEqual([uid, gid], [33, 44]);
    assert.equal(mode & 0o777, 0o640);
    assert.ok((await readdir(join(target, 'bin'))).includes('sh'));
    const left = await subject.docker.listContainers({ all: true, filters: { ancestor: [image] } });
    assert.deepEqual(left, []);
    await assert.rejects(exportRootfs('localhost:1/none', target), BuildFailed);
  });
});
