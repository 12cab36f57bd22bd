/** The engine's live sandboxes and snapshots, on the provider that `auto` takes. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm, writeFile, truncate, stat, appendFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Engine } from '../../src/engine/engine.js';
import { reap } from '../../src/engine/reap.js';
import type { Held } from '../../src/engine/sandboxes/held.js';
import { listSandboxes, terminateAll, terminateSandbox } from '../../src/engine/sandboxes/list.js';
import { forkSandbox, openSandbox } from '../../src/engine/sandboxes/open.js';
import { deleteSnapshot, describeSnapshot, editSnapshot, lineageOf, listSnapshots, pruneSnapshots } from '../../src/engine/snapshots/manage.js';
import { takeSnapshot } from '../../src/engine/snapshots/take.js';
import { exportSnapshot, importSnapshot } from '../../src/engine/snapshots/transfer.js';
import { templateStatus } from '../../src/engine/templateStatus.js';
import type { Provider, SandboxInfo } from '../../src/sandbox/provider.js';
import type { SnapshotRecord } from '../../src/store/records.js';

const signal = new AbortController().signal;
const SERVER = `import http.server, os
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if os.path.exists("/run/open") else 503); self.end_headers(); self.wfile.write(b"hello " + os.environ["TOKEN"].encode())
    def log_message(self, *a): print("asked with", os.environ["TOKEN"], flush=True)
http.server.ThreadingHTTPServer(("127.0.0.1", 8099), H).serve_forever()`;

const PLAIN = 'env: {COLOUR: blue}\nsetup: [{run: "mkdir -p /srv/d && echo prepared > /srv/d/state"}]\nepisode: {run: "cat /srv/d/state; echo 1"}\n';

describe('live sandboxes', function () {
  this.timeout(120_000);
  let root: string;
  let engine: Engine;
  const expiring: { readonly id: string; readonly remainingMs: number }[] = [];

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'rl-live-'));
    engine = await Engine.open({ root, onExpiring: ({ id }, remainingMs) => expiring.push({ id, remainingMs }) });
  });
  afterEach(async () => {
    await terminateAll(engine);
    assert.deepEqual((await listSandboxes(engine)).map(({ id }) => id), []);
    assert.deepEqual(await engine.snapshots.temporaries(), []);
  });
  after(async () => {
    for (const { id } of await engine.snapshots.list()) await deleteSnapshot(engine, id);
    await engine.close();
    await rm(root, { recursive: true, force: true });
  });

  const template = async (name: string, body: string): Promise<string> => {
    const file = join(root, `${name}.rlenv.yaml`);
    await writeFile(file, `name: ${name}\n${body}`);
    return file;
  };
  const open = async (name = 'plain', body = PLAIN, keepMs?: number): Promise<Held> => openSandbox(engine, { file: await template(name, body), keepMs, signal });
  const run = async ({ sandbox }: Held, script: string): Promise<string> => {
    const child = sandbox.exec(['sh', '-c', script]);
    const [out, errors, { code }] = await Promise.all([text(child.stdout), text(child.stderr), child.exit]);
    assert.equal(code, 0, errors);
    return out;
  };
  const take = ({ sandbox, making }: Held, more = {}): Promise<SnapshotRecord> => takeSnapshot(engine, sandbox, making, 'filesystem', more, signal);

  it('open from a template, are listed with what they are and use, and end', async () => {
    const held = await open();
    assert.equal(await run(held, 'cat /srv/d/state; echo $COLOUR'), 'prepared\nblue\n');
    const [listed] = await listSandboxes(engine, true);
    assert.ok(listed);
    const { origin, attached, orphan, ageMs, remainingMs, usage, ports, labels } = listed;
    assert.deepEqual({ origin, attached, orphan, ports, template: labels.template }, { origin: 'opened', attached: true, orphan: false, ports: [], template: 'plain' });
    assert.ok(ageMs >= 0 && remainingMs! > 3_500_000 && usage!.memory >= 0);
    assert.equal(labels.snapshot, held.making.snapshot.id);
    await terminateSandbox(engine, listed.provider, listed.id);
    assert.equal(engine.held.size, 0);
    assert.throws(() => engine.held.get(listed.id), { name: 'NoSuchSandbox' });
  });

  it('end when their time is up, which is told before, unless they are extended', async () => {
    expiring.length = 0;
    const extended = await open('plain', PLAIN, 600);
    extended.keep(60_000);
    const [short, unlimited] = [await open('plain', PLAIN, 600), await open('plain', PLAIN, -1)];
    assert.equal(unlimited.remainingMs, null);
    await short.sandbox.ended;
    await short.terminate();
    assert.deepEqual(expiring.map(({ id }) => id), [short.id]);
    assert.ok(expiring[0]!.remainingMs <= 120);
    assert.equal(engine.held.find(short.id), undefined);
    assert.ok(extended.remainingMs! > 50_000);
  });

  it('count their time on a clock that nobody sets: it is set back and forward by a day', async () => {
    const held = await open('plain', PLAIN, 900);
    const now = Date.now;
    try {
      for (const days of [-1, 1]) {
        Date.now = () => now() + days * 86_400_000;
        const [listed] = await listSandboxes(engine);
        assert.ok(listed!.ageMs < 60_000 && listed!.remainingMs! <= 900 && listed!.remainingMs! >= 0);
        assert.equal(listed!.orphan, false);
        assert.deepEqual(await reap([held.making.provider]), [], 'an owner that lives sees to its own');
      }
      Date.now = () => now() - 86_400_000;
      await held.sandbox.ended;
    } finally {
      Date.now = now;
    }
  });

  it('that died are gone from the list, with what was opened for them', async () => {
    const held = await open();
    const { localPort } = await held.forwards.start(8099);
    await held.making.provider.terminate(held.id);
    await engine.held.empty();
    await assert.rejects(new Promise((resolve, reject) => connect(localPort, '127.0.0.1').once('connect', resolve).once('error', reject)), /ECONNREFUSED/);
  });

  it('start services in order, wait until they answer, keep their logs without secrets, and lead a port of this machine to them', async () => {
    process.env.LIVE_TOKEN = 'very-secret-value';
    const services = `secrets: {TOKEN: "\${env:LIVE_TOKEN}"}
services:
  - {name: first, run: "sleep 0.3; touch /run/first; sleep 300", ready: {command: test -e /run/first}}
  - name: web
    run: |
      test -e /run/first || exit 5
      (sleep 0.3; touch /run/open) &
      exec python3 -c '${SERVER.replaceAll('\n', '\n      ')}'
    ready: {http: "http://localhost:8099/health"}
setup: [{run: "mkdir -p /run"}]
episode: {run: "echo 1"}
`;
    const held = await open('served', services);
    assert.deepEqual(held.services.map(({ name, state }) => `${name} ${state}`), ['first ready', 'web ready']);
    const { localPort } = await held.forwards.start(8099);
    assert.equal((await held.forwards.start(8099)).localPort, localPort);
    const answers = await Promise.all(Array.from({ length: 5 }, async () => (await fetch(`http://127.0.0.1:${localPort}/x`)).text()));
    assert.deepEqual(answers, Array.from({ length: 5 }, () => 'hello very-secret-value'));
    const { text: log, next } = held.services[1]!.log.read(0);
    assert.match(log, /asked with \*\*\*/);
    assert.doesNotMatch(log, /very-secret/);
    assert.deepEqual(held.services[1]!.log.read(next), { text: '', next, dropped: 0 });
    assert.deepEqual(held.forwards.list().map(({ port }) => port), [8099]);
    await held.forwards.stop(8099);
    await assert.rejects(fetch(`http://127.0.0.1:${localPort}/x`));
  });

  it('with a service that does not get ready are not opened, and say why', async () => {
    const bad = (run: string, ready: string): string => `services: [{name: bad, run: ${JSON.stringify(run)}, ready: ${ready}, timeout: 600ms}]\nepisode: {run: "echo 1"}\n`;
    await assert.rejects(open('ends', bad('echo why it failed >&2; exit 3', '{port: 1234}')), { name: 'ServiceFailed', message: 'the service bad ended with exit code 3 before it was ready: why it failed' });
    await assert.rejects(open('late', bad('sleep 300', '{port: 1234}')), { name: 'ServiceFailed', message: /was not ready within 0.6 s/ });
  });

  it('episodes have services too, and a failed one is an error, never a reward', async () => {
    const served = `services: [{name: echo, run: "echo serving; touch /srv/up; exec sleep 300", ready: {command: test -e /srv/up}}]\nepisode: {run: "test -e /srv/up && echo 1"}\n`;
    const good = await (await engine.start(await template('good', served))).ended;
    assert.equal(good.summary?.mean, 1);
    assert.equal(await readFile(join(engine.layout.episode(good.id, 0), 'service-echo.log'), 'utf8'), 'serving\n');
    const bad = await (await engine.start(await template('bad', 'services: [{name: bad, run: "exit 3", ready: {port: 1}}]\nepisode: {run: "echo 1"}\n'))).ended;
    const { record } = await engine.episode(bad.id, 0);
    assert.deepEqual([record.status, record.reward, record.attempts, record.cause], ['error', null, 1, 'ServiceFailed: the service bad ended with exit code 3 before it was ready']);
  });

  it('that an episode kept are told with their run', async () => {
    const kept = await (await engine.start(await template('kept', `keep_warm: -1\n${PLAIN}`))).ended;
    const [listed] = await listSandboxes(engine);
    assert.deepEqual([listed!.origin, listed!.labels.run, listed!.labels.episode, listed!.remainingMs, listed!.attached], ['kept', kept.id, 0, null, true]);
    assert.equal(await run(engine.held.get(listed!.id), 'cat /srv/d/state'), 'prepared\n');
  });

  it('fork with their files, and what that needed is gone with the fork', async () => {
    const held = await open();
    await run(held, 'echo more > /srv/more');
    const fork = await forkSandbox(engine, held.id, undefined, signal);
    assert.equal(await run(fork, 'cat /srv/more /srv/d/state; echo $COLOUR; echo own > /srv/own'), 'more\nprepared\nblue\n');
    const again = await forkSandbox(engine, fork.id, undefined, signal);
    assert.equal(await run(again, 'cat /srv/own'), 'own\n');
    assert.equal((await engine.snapshots.temporaries()).length, 2);
    assert.equal((await listSnapshots(engine)).snapshots.some(({ temporary }) => temporary), false);
    await fork.terminate();
    assert.equal((await engine.snapshots.temporaries()).length, 1);
    assert.equal(await run(again, 'cat /srv/own /srv/more'), 'own\nmore\n', 'a fork of a fork needs only its own');
    const snapshot = await take(again);
    assert.equal(snapshot.parent, held.making.snapshot.id, 'what is temporary is nobody\'s parent');
  });

  it('show a file as it was at first, and what has changed since', async () => {
    const held = await open();
    await run(held, 'echo changed > /srv/d/state');
    assert.deepEqual(await held.sandbox.changes(), [{ path: '/srv/d/state', kind: 'modified' }]);
    const original = await held.original();
    assert.equal(await text(await original.files.read('/srv/d/state')), 'prepared\n');
    assert.equal(await held.original(), original);
    assert.deepEqual((await listSandboxes(engine)).map(({ id }) => id), [held.id], 'what it is read from is nobody\'s business');
  });

  describe('snapshots', () => {
    it('have a name, a note, a parent, a size, and are no build', async () => {
      const held = await open();
      await run(held, 'head -c 3000000 /dev/urandom > /srv/three');
      const child = await take(held, { name: 'with three', note: 'made by hand' });
      const built = held.making.snapshot.id;
      const file = held.making.file!;
      const described = await describeSnapshot(engine, child.id);
      assert.deepEqual([described.name, described.note, described.parent, described.stale, described.live, described.origin], ['with three', 'made by hand', built, [], 0, 'sandbox']);
      assert.ok(described.ownBytes! >= 3_000_000);
      assert.deepEqual((await describeSnapshot(engine, built)).children.includes(child.id), true);
      assert.equal((await templateStatus(engine, file)).current, built, 'a run restores builds only');
      const line = await lineageOf(engine, child.id);
      assert.deepEqual(line.map(({ id }) => id), [built, child.id]);
      await editSnapshot(engine, child.id, { name: '', pinned: true });
      assert.deepEqual([(await describeSnapshot(engine, child.id)).name, (await describeSnapshot(engine, child.id)).pinned], [undefined, true]);
      await assert.rejects(editSnapshot(engine, child.id, { name: 'two\nlines' }), /one line/);
      const again = await openSandbox(engine, { snapshot: child.id, signal });
      assert.equal(await run(again, 'wc -c < /srv/three; echo $COLOUR'), '3000000\nblue\n');
      await writeFile(file, `name: plain\n${PLAIN.replace('prepared', 'otherwise')}`);
      assert.deepEqual((await describeSnapshot(engine, child.id)).stale, ['setup']);
      await writeFile(file, `name: plain\n${PLAIN}`);
    });

    it('are not deleted while a sandbox lives on them or a run restores from them, and tell which runs used them', async () => {
      const file = await template('busy', 'setup: [{run: "echo x > /srv/x"}]\nepisode: {run: "cat /srv/x; sleep 0.4; echo 1", seeds: 12}\n');
      const live = await engine.start(file, { concurrency: 2 });
      const id = await new Promise<string>((resolve) => {
        const look = setInterval(() => {
          if (live.record.snapshot && live.running > 0) resolve((clearInterval(look), live.record.snapshot.id));
        }, 10);
      });
      const other = await Engine.open({ root });
      await assert.rejects(deleteSnapshot(engine, id), { name: 'SnapshotInUse' });
      await assert.rejects(deleteSnapshot(other, id), { name: 'SnapshotInUse', message: /sandbox(es)? lives? on it/ });
      const ended = await live.ended;
      assert.deepEqual([ended.state, ended.summary?.finished, ended.summary?.errors], ['done', 12, 0]);
      const held = await openSandbox(engine, { snapshot: id, signal });
      await assert.rejects(deleteSnapshot(engine, id), { name: 'SnapshotInUse' });
      await assert.rejects(deleteSnapshot(other, id), { name: 'SnapshotInUse', message: /a sandbox lives on it/ });
      await held.terminate();
      const dying = deleteSnapshot(engine, id);
      await assert.rejects(openSandbox(engine, { snapshot: id, signal }));
      assert.deepEqual(await dying, [{ id: live.record.id, number: live.record.number }]);
      await assert.rejects(openSandbox(engine, { snapshot: id, signal }), new RegExp(`deleted on .*run #${live.record.number}`));
      await other.close();
    });

    it('go out into a file and come in again, whole or not at all', async () => {
      const held = await open();
      await run(held, 'head -c 9000000 /dev/urandom > /srv/nine; printf x > "/srv/odd ü"');
      const sum = await run(held, 'sha256sum < /srv/nine');
      const made = await take(held, { name: 'to go' });
      const file = join(root, 'out.rlsnapshot');
      const size = await exportSnapshot(engine, made.id, file, signal);
      assert.equal((await stat(file)).size, size);
      await held.terminate();
      await deleteSnapshot(engine, made.id);
      const imported = await importSnapshot(engine, file, signal);
      assert.deepEqual([imported.origin, imported.name, imported.file], ['import', 'to go', '']);
      const again = await openSandbox(engine, { snapshot: imported.id, signal });
      assert.equal(await run(again, 'sha256sum < /srv/nine; cat "/srv/odd ü"; echo $COLOUR'), `${sum}xblue\n`);
      await again.terminate();
      const { totalBytes } = await listSnapshots(engine);
      const whole = await readFile(file);
      const spoiled = Buffer.from(whole);
      spoiled[spoiled.length >> 1]! ^= 1;
      for (const [what, data, why] of [
        ['cut', whole.subarray(0, whole.length >> 1), /cannot be imported/],
        ['spoiled', spoiled, /not what was exported|broken|no snapshot/],
        ['none', Buffer.from('text'), /no snapshot file/],
        ['empty', Buffer.alloc(0), /no snapshot file/],
      ] as const) {
        const bad = join(root, `${what}.rlsnapshot`);
        await writeFile(bad, data);
        await assert.rejects(importSnapshot(engine, bad, signal), (error: Error) => why.test(error.message) || assert.fail(`${what}: ${error.message}`));
      }
      await assert.rejects(importSnapshot(engine, join(root, 'nowhere'), signal), /ENOENT/);
      await assert.rejects(exportSnapshot(engine, imported.id, join(root, 'no', 'folder'), signal), /ENOENT/);
      assert.equal((await listSnapshots(engine)).totalBytes, totalBytes);
      await appendFile(file, 'x');
      await truncate(file, 0);
      assert.deepEqual((await readdir(root)).filter((name) => name.endsWith('.partial')), []);
    });

    it('are pruned by age, size and what replaced them, but not if pinned or in use', async () => {
      const held = await open();
      const [one, two, three] = [await take(held, { name: 'one' }), await take(held, { name: 'two' }), await take(held, { name: 'three' })];
      await editSnapshot(engine, one.id, { pinned: true });
      const none = await pruneSnapshots(engine, { olderThanMs: 3_600_000 });
      assert.deepEqual(none, { removed: [], kept: [] });
      const ids = (await engine.snapshots.list()).map(({ id }) => id);
      const dry = await pruneSnapshots(engine, { dryRun: true });
      assert.deepEqual((await engine.snapshots.list()).map(({ id }) => id), ids);
      assert.ok(dry.removed.some(({ id }) => id === two.id) && dry.removed.some(({ id }) => id === three.id));
      assert.ok(dry.kept.some(({ id }) => id === held.making.snapshot.id), 'a sandbox lives on it');
      assert.ok(!dry.removed.some(({ id }) => id === one.id));
      await pruneSnapshots(engine, { keepBytes: 0 });
      const left = (await engine.snapshots.list()).map(({ id }) => id);
      assert.ok(left.includes(one.id) && left.includes(held.making.snapshot.id) && !left.includes(two.id) && !left.includes(three.id));
    });
  });

  it('of dead processes are orphans, and end', async () => {
    const dead: SandboxInfo = { id: 'bw-0000000000000000', provider: 'none', labels: { owner: '1:1:elsewhere', expires: Date.now() + 1e6 }, createdAt: Date.now() + 1e9, state: 'running' };
    const ended: string[] = [];
    const provider = { list: () => Promise.resolve([dead]), terminate: (id: string) => Promise.resolve(void ended.push(id)) } as unknown as Provider;
    assert.deepEqual((await reap([provider])).map(({ id }) => id), [dead.id]);
    assert.deepEqual(ended, [dead.id]);
  });
});
