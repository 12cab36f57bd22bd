/** Memory snapshots against a real Podman with a real CRIU: processes that go on in many sandboxes. */
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../../src/sandbox/command.js';
import { CHECKPOINT_IMAGE } from '../../../src/sandbox/docker/labels.js';
import { createProvider } from '../../../src/sandbox/podman/index.js';
import type { ProviderSnapshot, Sandbox } from '../../../src/sandbox/provider.js';
import { skip } from '../../support/skip.js';
import { Bench, commandLines, output, run, until } from '../conformance/bench.js';
import { counted, next, PORT, startCounter } from '../conformance/counter.js';
import { podmanSubject, type PodmanSubject } from './subject.js';

const TAKE_MEMORY = fileURLToPath(new URL('takeMemory.ts', import.meta.url));
const ORPHAN = fileURLToPath(new URL('../conformance/orphan.ts', import.meta.url));
/** Of the kernel's numbers: `capabilities(7)`. */
const CAP_SYS_RESOURCE = 1n << 24n;

describe('podman memory snapshots', function () {
  this.timeout(180_000);
  const bench = new Bench();
  let subject: PodmanSubject;
  let tagsBefore: string[] = [];
  const made: ProviderSnapshot[] = [];

  before(async function () {
    this.timeout(600_000);
    subject = await podmanSubject();
    await bench.start(subject);
    if (subject.noMemorySnapshots) skip(this, subject.noMemorySnapshots);
  });
  afterEach(async () => {
    await bench.terminateAll();
    for (const snapshot of made.splice(0)) await bench.provider.removeSnapshot(snapshot);
  });
  after(() => bench.stop());

  /** A sandbox whose server has counted to `n`. */
  const counting = async (n: number, from?: ProviderSnapshot): Promise<Sandbox> => counted(await bench.restore({}, from), n);
  const snapshotOf = async (sandbox: Sandbox): Promise<ProviderSnapshot> => {
    const snapshot = await sandbox.snapshot('memory');
    made.push(snapshot);
    return snapshot;
  };
  /** Bytes of those that are being written. */
  const archives = async (): Promise<number> => {
    const folder = join(subject.context.stateDir, 'memory');
    const sizes = (await kept()).filter((name) => name.endsWith('.partial')).map((name) => stat(join(folder, name, 'archive.tar')).then(({ size }) => size, () => 0));
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  };
  const kept = async (): Promise<string[]> => readdir(join(subject.context.stateDir, 'memory')).catch(() => []);
  /** Of this test's own: whoever shares the service has others. */
  const tags = async (): Promise<string[]> => (await allTags()).filter((tag) => !tagsBefore.includes(tag));
  const allTags = async (): Promise<string[]> => (await subject.podman('images', '--filter', `reference=${CHECKPOINT_IMAGE}`, '--format', '{{.Tag}}')).split('\n').filter((tag) => tag !== '');

  it('check says that they can be taken', async () => {
    const health = await bench.provider.check();
    assert.equal(health.noMemorySnapshots, undefined);
    assert.equal(health.details?.['memory snapshots'], 'yes');
  });

  it('limits are those of the new sandbox, and of no other', async () => {
    const snapshot = await snapshotOf(await counting(3));
    const [small, other] = await Promise.all([bench.restore({ resources: { pids: 20 } }, snapshot), bench.restore({}, snapshot)]);
    const forks = 'n=0; while [ $n -lt 30 ]; do sleep 30 & n=$((n+1)); done';
    assert.match((await run(small, forks)).stderr, /fork/i);
    assert.equal((await run(other, forks)).stderr, '');
  });

  it('a restored sandbox ends with its owner, and at its own deadline', async () => {
    const snapshot = await snapshotOf(await counting(1));
    await bench.terminateAll();
    const brief = await bench.restore({ lifetimeMs: 3000 }, snapshot);
    await brief.ended;
    await until(async () => !(await bench.provider.list()).some(({ id }) => id === brief.id), 'the end of a life');
    const child = spawn(process.execPath, ['--import', 'tsx', ORPHAN, 'podman', subject.context.stateDir, JSON.stringify(snapshot)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { id, owner } = JSON.parse(line.toString()) as { id: string; owner: string };
    assert.equal((await bench.provider.list()).find((info) => info.id === id)?.labels.owner, owner);
    child.kill('SIGKILL');
    await until(async () => !(await bench.provider.list()).some((info) => info.id === id), 'the end of the orphan');
    await subject.assertNothingLeft?.(id);
  });

  it('holds services that write, whoever reads them, and connections inside', async () => {
    const source = await bench.restore();
    const heard: string[] = [];
    for (const name of ['one', 'two']) {
      const service = source.exec(['sh', '-c', `n=0; while echo ${name} $n && echo ${name} >&2; do n=$((n+1)); echo $n > /srv/${name}; sleep 0.05; done`], { lasting: true });
      service.exit.catch(() => undefined);
      service.stderr.resume();
      service.stdout.on('data', (data: Buffer) => heard.push(data.toString()));
    }
    const pair = `import socket, time
s = socket.create_server(("127.0.0.1", ${PORT}))
a = socket.create_connection(("127.0.0.1", ${PORT})); b, _ = s.accept()
s.close()
open("/srv/pair", "w").close()
while True:
    a.sendall(b"x"); b.recv(1)
    open("/srv/pair", "a").write("x")
    time.sleep(0.05)`;
    source.exec(['python3', '-c', pair], { lasting: true }).exit.catch(() => undefined);
    const counts = async (sandbox: Sandbox): Promise<number[]> => [...(await output(sandbox, 'cat /srv/one /srv/two; wc -c </srv/pair')).split('\n').slice(0, 3).map(Number)];
    const grow = async (sandbox: Sandbox): Promise<void> => {
      const before = await counts(sandbox);
      await until(async () => (await counts(sandbox)).every((count, at) => count > before[at]!), 'all of them to go on');
    };
    await until(() => counts(source).then((all) => all.every((count) => count > 1), () => false), 'all of them');
    const snapshot = await snapshotOf(source);
    await grow(source);
    assert.match(heard.join(''), /one [\s\S]*two/);
    const copy = await bench.restore({}, snapshot);
    await grow(copy);
    await grow(await bench.restore({}, await snapshotOf(copy)));
    await copy.killAll();
    assert.equal(await output(copy, 'echo still there'), 'still there\n');
  });

  it('with a list of allowed hosts a copy reaches them by a relay of its own', async () => {
    const http = createServer((_, answer) => answer.end('the machine')).listen(0, '127.0.0.2');
    await once(http, 'listening');
    try {
      const url = `127.0.0.2:${(http.address() as AddressInfo).port}`;
      const get = ['python3', '-c', `import urllib.request; print(urllib.request.urlopen("http://${url}/", timeout=20).read().decode())`];
      const network = { allow: [url] };
      const first = await bench.restore({ network });
      assert.equal(await output(first, get), 'the machine\n');
      const copy = await bench.restore({ network }, await snapshotOf(first));
      for (const each of [copy, first]) assert.equal(await output(each, get), 'the machine\n');
    } finally {
      http.close();
    }
  });

  it('of processes of another user go on as that user, where root may copy them', async () => {
    const user = '1234:1234';
    const source = await bench.restore({ user });
    await output(source, 'setsid sleep 1000 </dev/null >/dev/null 2>&1 &');
    const capabilities = BigInt(`0x${/^CapEff:\s*(\S+)/m.exec(await readFile('/proc/self/status', 'latin1'))![1]}`);
    if ((capabilities & CAP_SYS_RESOURCE) === 0n) {
      await assert.rejects(source.snapshot('memory'), { name: 'Unsupported', message: /^root has no CAP_SYS_RESOURCE/ });
      assert.deepEqual(await kept(), []);
      return;
    }
    const snapshot = await snapshotOf(source);
    const copy = await bench.restore({ user }, snapshot);
    assert.equal(await output(copy, 'id -u'), '1234\n');
    assert.ok((await commandLines(copy)).some((line) => line.startsWith('sleep 1000')));
    await assert.rejects(bench.restore({}, snapshot), { name: 'Unsupported', message: /run as 1234:1234/ });
  });

  it('needs no other snapshot, and when it is removed nothing of it is left', async () => {
    const parent = await (await bench.restore()).snapshot('filesystem');
    const snapshot = await snapshotOf(await counting(2, parent));
    await bench.terminateAll();
    await bench.provider.removeSnapshot(parent);
    assert.deepEqual([await bench.provider.hasSnapshot(parent), await bench.provider.hasSnapshot(snapshot)], [false, true]);
    assert.equal(await next(await bench.restore({}, snapshot)), 3);
    await bench.terminateAll();
    await bench.provider.removeSnapshot(snapshot);
    assert.equal(await bench.provider.hasSnapshot(snapshot), false);
    assert.deepEqual(await kept(), []);
    assert.ok(!(await tags()).includes(snapshot.ref));
    await assert.rejects(subject.podman('image', 'inspect', parent.ref), 'the image that only it needed');
    await assert.rejects(bench.restore({}, snapshot), /is gone/);
  });

  it('an archive that is not what Podman made is refused', async () => {
    const snapshot = await snapshotOf(await counting(1));
    const before = (await bench.provider.list()).length;
    const file = await open(join(subject.context.stateDir, 'memory', snapshot.ref, 'archive.tar'), 'r+');
    // A byte of an entry's content, far from any header.
    await file.write('x', (await file.stat()).size - 5000).finally(() => file.close());
    await assert.rejects(bench.restore({}, snapshot), /is not what it was when it was taken/);
    assert.equal((await bench.provider.list()).length, before);
  });

  it('an owner that is killed while one is taken leaves nothing of it, nor of its sandbox', async () => {
    tagsBefore = await allTags();
    const child = spawn(process.execPath, ['--import', 'tsx', TAKE_MEMORY, subject.context.stateDir, JSON.stringify(bench.snapshot)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const gone = once(child, 'exit');
    const id = String(((await once(child.stdout, 'data')) as [Buffer])[0]).trim();
    // In the middle of what Podman sends.
    await until(async () => (await archives()) > 0, 'the archive');
    child.kill('SIGKILL');
    await gone;
    assert.equal((await kept()).filter((name) => name.endsWith('.partial')).length, 1, 'it was in the middle');
    await until(async () => !(await bench.provider.list()).some((info) => info.id === id), 'the end of the sandbox');
    await subject.assertNothingLeft?.(id);
    await bench.provider.sizes([]);
    assert.deepEqual([await kept(), await tags()], [[], []]);
  });

  it('a disk that is full keeps nothing of it, and the sandbox goes on', async function () {
    if (process.getuid?.() !== 0) skip(this, 'a disk of its own needs root to be mounted');
    const stateDir = await mkdtemp(join(tmpdir(), 'rl-full-'));
    const mounted = await runCommand('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'rl-full', stateDir]);
    assert.equal(mounted.code, 0, mounted.stderr);
    try {
      tagsBefore = await allTags();
      const provider = createProvider({ stateDir, log: console.error });
      const source = await provider.restore(bench.snapshot, await bench.spec());
      try {
        await startCounter(source);
        await assert.rejects(source.snapshot('memory'), { name: 'LimitExceeded' });
        assert.deepEqual([await readdir(join(stateDir, 'memory')), await tags()], [[], []]);
        assert.equal(await next(source), 1);
      } finally {
        await source.terminate();
        await provider.close();
      }
    } finally {
      await runCommand('umount', [stateDir]);
      await rm(stateDir, { recursive: true, force: true });
    }
  });

  it('what cannot be done is refused with a sentence, and nothing is kept', async () => {
    const source = await counting(1);
    tagsBefore = await allTags();
    await assert.rejects(source.snapshot('memory', { signal: AbortSignal.timeout(100) }));
    await until(async () => (await kept()).length === 0 && (await tags()).length === 0, 'the clean-up');
    assert.equal(await next(source), 2, 'the source goes on');
    const outside = source.exec(['sleep', '1000']);
    outside.exit.catch(() => undefined);
    await until(async () => (await output(source, 'cat /proc/[0-9]*/cmdline')).includes('sleep\x001000'), 'the command');
    await assert.rejects(source.snapshot('memory'), { name: 'Unsupported', message: /would not be saved: `sleep 1000`;/ });
    await source.killAll();
    // CRIU stops processes as a debugger does, and no process has two.
    await output(source, ['sh', '-c', `setsid python3 -c 'import ctypes, os, time; os.fork() or ctypes.CDLL(None).ptrace(0, 0, 0, 0); open("/tmp/traced", "a").close(); time.sleep(1000)' </dev/null >/dev/null 2>&1 &`]);
    await until(async () => (await run(source, 'test -e /tmp/traced && grep -q "TracerPid:.*[1-9]" /proc/[0-9]*/status')).code === 0, 'a process that is traced');
    await assert.rejects(source.snapshot('memory'), { name: 'SandboxError', message: /^CRIU cannot copy what runs in the sandbox: \w/ });
    assert.deepEqual([await kept(), await tags()], [[], []]);
    assert.equal(await output(source, 'echo goes on'), 'goes on\n');
    await source.killAll();
    const snapshot = await snapshotOf(source);
    await assert.rejects(bench.restore({ network: 'full' }, snapshot), { name: 'Unsupported', message: /no network/ });
  });
});
