/** The vendor's own SDK against the simulator: what it can do here is what the simulator may claim to be. */
import { strict as assert } from 'node:assert';
import { Image, Sandbox, SandboxConnectionError, SandboxFileSystemError, SandboxProcessError, type SandboxInstance } from '@beamcloud/beam-js';
import { until } from '../integration/conformance/bench.js';
import { point, silence } from './sdk.js';
import { Simulated } from './simulated.js';

const BASE = 'docker.io/library/debian:bookworm';

describe('the simulator of Beam, by the official SDK', function () {
  this.timeout(60_000);
  let simulated: Simulated;
  let speak: () => void;
  const open: SandboxInstance[] = [];
  const create = async (image = Image.fromRegistry(BASE), more = {}): Promise<SandboxInstance> => {
    const sandbox = await new Sandbox({ name: 'sdk', image, keepWarmSeconds: 300, ...more }).create();
    open.push(sandbox);
    return sandbox;
  };

  before(async () => {
    simulated = await Simulated.start();
    point(simulated.environment);
    speak = silence();
  });
  after(() => {
    speak?.();
    return simulated?.close();
  });
  afterEach(async () => {
    await simulated.faults({});
    await Promise.all(open.splice(0).map((sandbox) => sandbox.terminate()));
    assert.deepEqual((await simulated.state()).sandboxes, []);
  });

  it('creates, connects by id, exposes ports, ends in time, and terminates, twice', async () => {
    const sandbox = await create();
    const again = await Sandbox.connect(sandbox.sandboxId);
    assert.equal(again.stubId, sandbox.stubId);
    const url = await sandbox.exposePort(8080);
    assert.deepEqual(await sandbox.listUrls(), { 8080: url });
    assert.equal(await sandbox.terminate(), true);
    assert.equal(await sandbox.terminate(), false);
    await assert.rejects(Sandbox.connect(sandbox.sandboxId), SandboxConnectionError);
    const short = await create(undefined, { keepWarmSeconds: 1 });
    await until(async () => (await simulated.state()).sandboxes.length === 0, 'the end of its time');
    await assert.rejects(short.exec(['true']), SandboxProcessError);
  });

  it('runs commands: output, exit codes, environment, folder, lines as they come, a kill', async () => {
    const sandbox = await create();
    const process = await sandbox.exec(['sh', '-c', 'echo out; echo err >&2; echo "$OWN"; pwd; exit 7'], { env: { OWN: 'o w n' }, cwd: '/usr' });
    assert.equal(await process.wait(), 7);
    assert.deepEqual([await process.stdout.read(), await process.stderr.read()], ['out\no w n\n/usr\n', 'err\n']);
    const inline = await sandbox.exec(['echo', "it's"], { wait: true });
    assert.deepEqual([inline.exitCode, await inline.stdout.read()], [0, "it's\n"]);
    const slow = await sandbox.execShell('for i in 1 2 3; do echo $i; sleep 0.3; done');
    const lines: string[] = [];
    for await (const line of slow.stdout as unknown as AsyncIterable<string>) lines.push(line);
    assert.deepEqual(lines, ['1\n', '2\n', '3\n']);
    const sleeper = await sandbox.exec(['sleep', '300']);
    assert.ok((await sandbox.listProcesses()).some(({ pid, running }) => pid === sleeper.pid && running));
    await sleeper.kill();
    assert.equal(await sleeper.wait(), 137);
  });

  it('keeps files: text, bytes, folders, what is in them', async () => {
    const { fs } = await create();
    await fs.mkdir('/srv/a');
    await fs.writeText('/srv/a/text', 'héllo wörld');
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    await fs.writeBytes('/srv/a/bytes', bytes, 0o600);
    assert.equal(await fs.readText('/srv/a/text'), 'héllo wörld');
    assert.deepEqual(await fs.readBytes('/srv/a/bytes'), bytes);
    const { size, isDir, permissions } = await fs.stat('/srv/a/bytes');
    assert.deepEqual([size, isDir, permissions], [256, false, 0o600]);
    assert.deepEqual((await fs.list('/srv/a')).map(({ name }) => name).sort(), ['bytes', 'text']);
    await fs.replace('/srv/a', 'wörld', 'again');
    assert.equal(await fs.readText('/srv/a/text'), 'héllo again');
    assert.deepEqual((await fs.find('/srv/a', 'again')).map(({ path, matches }) => [path, matches.length]), [['/srv/a/text', 1]]);
    await fs.remove('/srv/a/text');
    await fs.remove('/srv/a', { dir: true });
    await assert.rejects(fs.readText('/srv/a/text'), SandboxFileSystemError);
    await assert.rejects(fs.writeText('/srv/none/x', 'x'), SandboxFileSystemError);
    await assert.rejects(fs.writeBytes('/srv/large', Buffer.alloc(16 << 20)), /429/);
  });

  it('builds images with commands, and makes one of the file system', async () => {
    const image = new Image({ baseImage: BASE, commands: ['echo built > /srv/word'] });
    const sandbox = await create(image);
    assert.equal(await sandbox.fs.readText('/srv/word'), 'built\n');
    await (await sandbox.exec(['sh', '-c', 'echo more > /srv/more'])).wait();
    const imageId = await sandbox.createImageFromFilesystem();
    assert.match(imageId, new RegExp(`^${sandbox.stubId}-\\d+$`));
    assert.equal(await (await create(Image.fromId(imageId))).fs.readText('/srv/more'), 'more\n');
    await assert.rejects(create(new Image({ baseImage: BASE, commands: ['exit 3'] })), SandboxConnectionError);
    await assert.rejects(sandbox.snapshot(), /checkpoints are not enabled/);
  });

  it('refuses a wrong token, and fails as it is told to', async () => {
    point(simulated.environment, 'wrong');
    await assert.rejects(create(), /401/);
    point(simulated.environment);
    await simulated.faults({ lostReply: 1 });
    await assert.rejects(create());
    await simulated.faults({});
    const [orphan] = (await simulated.state()).sandboxes;
    assert.ok(orphan, 'a creation whose answer was lost took place');
    await Sandbox.terminate(orphan.containerId);
    await simulated.faults({ zombie: 1 });
    const zombie = await create();
    await assert.rejects(zombie.exec(['true']), /Failed to connect/);
    await simulated.faults({});
    const sandbox = await create();
    for (const fault of ['rateLimit', 'serverError', 'reset'] as const) {
      await simulated.faults({ [fault]: 1 });
      await assert.rejects(sandbox.exec(['true']), Error, fault);
    }
    await simulated.faults({ truncate: 1 });
    assert.equal(await (await sandbox.exec(['echo', 'abcdefg'], { wait: true })).stdout.read(), 'abcd');
    await simulated.faults({ snapshotFails: 1 });
    await assert.rejects(sandbox.createImageFromFilesystem(), SandboxProcessError);
    await simulated.faults({ vanish: 1 });
    await assert.rejects(sandbox.exec(['true']), /Failed to connect/);
  });
});
