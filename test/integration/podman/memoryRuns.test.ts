/** Memory snapshots through the engine: services that go on, runs that start from one, what is refused. */
import { strict as assert } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Engine } from '../../../src/engine/engine.js';
import { openSandbox } from '../../../src/engine/sandboxes/open.js';
import { deleteSnapshot, listSnapshots } from '../../../src/engine/snapshots/manage.js';
import { exportSnapshot, importSnapshot } from '../../../src/engine/snapshots/transfer.js';
import { takeSnapshot } from '../../../src/engine/snapshots/take.js';
import { skip } from '../../support/skip.js';
import { podmanSubject, type PodmanSubject } from './subject.js';

/** Two services, of which one counts who asks it: were it started again in an episode, it would begin at 1, or not at all. */
const template = (image: string): string => `name: counting
image: ${image}
provider: podman
services:
  - {name: other, run: sleep 100000}
  - name: counter
    run: |
      exec python3 -c '
      import socket
      s = socket.create_server(("127.0.0.1", 7070))
      n = 0
      while True:
          c, _ = s.accept()
          n += 1
          c.sendall(b"%d" % n)
          c.close()'
    ready: {port: 7070}
episode: {run: 'python3 -c "import socket; print(socket.create_connection((\\"127.0.0.1\\", 7070)).recv(9).decode())"'}
reward: stdout
reward_range: [0, 100]
`;

describe('podman memory snapshots in the engine', function () {
  this.timeout(120_000);
  let subject: PodmanSubject;
  let engine: Engine;
  let root: string;
  const settings = process.env.XDG_CONFIG_HOME;

  before(async function () {
    this.timeout(600_000);
    subject = await podmanSubject();
    root = await mkdtemp(join(tmpdir(), 'rl-memory-'));
    // Where the key lies that exported ones are signed with.
    process.env.XDG_CONFIG_HOME = root;
    engine = await Engine.open({ root });
    if (subject.noMemorySnapshots) skip(this, subject.noMemorySnapshots);
  });
  after(async () => {
    if (settings === undefined) delete process.env.XDG_CONFIG_HOME;
    else process.env.XDG_CONFIG_HOME = settings;
    for (const { id } of (await engine?.snapshots.list()) ?? []) await deleteSnapshot(engine, id);
    await engine?.close();
    if (root) await rm(root, { recursive: true, force: true });
    await subject?.provider.close();
    await subject?.close?.();
  });

  it('hold the services of a template; every episode of a run goes on from one', async () => {
    const { signal } = new AbortController();
    const file = join(root, 'counting.rlenv.yaml');
    await writeFile(file, template(subject.image));
    const held = await openSandbox(engine, { file, signal });
    for (let time = 0; time < 4; time++) await text(await held.connect(7070));
    const taken = await takeSnapshot(engine, held.sandbox, held.making, 'memory', { name: 'warm' }, signal);
    await held.terminate();

    const copy = await openSandbox(engine, { snapshot: taken.id, signal });
    assert.deepEqual(copy.services, [], 'none is started a second time');
    assert.equal(await text(await copy.connect(7070)), '5');
    await assert.rejects(deleteSnapshot(engine, taken.id), { name: 'SnapshotInUse' });
    await copy.terminate();

    const exported = join(root, 'warm.rlsnapshot');
    await exportSnapshot(engine, taken.id, exported, signal);
    const imported = await importSnapshot(engine, exported, signal);
    assert.deepEqual([imported.kind, imported.origin, imported.name, imported.file], ['memory', 'import', 'warm', '']);
    const carried = await openSandbox(engine, { snapshot: imported.id, signal });
    assert.equal(await text(await carried.connect(7070)), '5');
    await carried.terminate();
    await deleteSnapshot(engine, imported.id);

    const live = await engine.start(file, { snapshot: taken.id, seeds: '3', concurrency: 3 });
    const run = await live.ended;
    assert.deepEqual([run.state, run.snapshot?.id, run.snapshot?.built], ['done', taken.id, false], run.error);
    assert.deepEqual((await engine.reader(run.id)).records.map(({ reward }) => reward), [5, 5, 5]);
    const again = await (await engine.rerun(run.id, undefined)).ended;
    assert.equal(again.snapshot?.id, taken.id);

    const { snapshots } = await listSnapshots(engine);
    const found = snapshots.find(({ id }) => id === taken.id)!;
    assert.deepEqual([found.kind, found.exists, found.ownBytes, found.usedBy.length], ['memory', true, taken.sizeBytes, 2]);
  });

  it('are refused of a sandbox that was given secrets', async () => {
    const file = join(root, 'secret.rlenv.yaml');
    await writeFile(file, `name: secret\nimage: ${subject.image}\nprovider: podman\nsecrets: {KEY: "\${env:MEMORY_KEY}"}\nepisode: {run: "echo 1"}\n`);
    process.env.MEMORY_KEY = 'hidden';
    const { signal } = new AbortController();
    const held = await openSandbox(engine, { file, signal }).finally(() => delete process.env.MEMORY_KEY);
    await assert.rejects(takeSnapshot(engine, held.sandbox, held.making, 'memory', {}, signal), { name: 'Unsupported', message: /its secrets \(KEY\)/ });
    await held.terminate();
  });
});
