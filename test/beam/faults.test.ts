/** What the provider makes of faults of the service, one at a time. */
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reap } from '../../src/engine/reap.js';
import { createProvider } from '../../src/sandbox/beam/index.js';
import { currentOwner } from '../../src/sandbox/owner.js';
import type { Health, Provider, ProviderSnapshot, Sandbox, SandboxSpec } from '../../src/sandbox/provider.js';
import { output, until } from '../integration/conformance/bench.js';
import { PLENTY, Simulated } from './simulated.js';

const ORPHAN = fileURLToPath(new URL('../integration/conformance/orphan.ts', import.meta.url));
const CREATE = 'POST /pods';

describe('Beam when it fails', function () {
  this.timeout(60_000);
  let simulated: Simulated;
  let stateDir: string;
  let provider: Provider;
  let snapshot: ProviderSnapshot;

  const spec = async (): Promise<SandboxSpec> => ({ labels: { owner: await currentOwner(), run: 'faults', expires: Date.now() + 600_000 }, resources: {}, env: {}, network: 'none', lifetimeMs: 600_000 });
  const restore = async (): Promise<Sandbox> => provider.restore(snapshot, await spec());
  const none = (what: string): Promise<void> => until(async () => (await simulated.state()).sandboxes.length === 0, what);

  before(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'rl-beam-'));
    simulated = await Simulated.start('--creations', '5', '--concurrent', '4');
    provider = createProvider({ stateDir, environment: { ...simulated.environment, ...PLENTY }, log: console.error });
    const sandbox = await provider.create({}, await spec());
    await output(sandbox, 'echo prepared > /srv/state');
    snapshot = await sandbox.snapshot('filesystem');
    await sandbox.terminate();
  });
  after(async () => {
    await provider?.close();
    await simulated?.close();
    await rm(stateDir, { recursive: true, force: true });
  });
  afterEach(() => simulated.faults({}));

  it('a creation whose answer was lost is an error, and what it made is ended', async () => {
    await simulated.faults({ lostReply: 1 });
    await assert.rejects(restore(), { name: 'SandboxError', retryable: true });
    await simulated.faults({});
    await none('the sandbox to be found and ended');
    await until(async () => (await readdir(join(stateDir, 'sandboxes'))).length === 0, 'its note to be gone');
  });

  it('a creation whose owner was killed before the answer is found, listed and reaped', async () => {
    await simulated.faults({ slowCreate: 1 });
    const before = (await simulated.state()).requests[CREATE] ?? 0;
    const child = spawn(process.execPath, ['--import', 'tsx', ORPHAN, 'beam', stateDir, JSON.stringify(snapshot)], { env: { ...process.env, ...simulated.environment, ...PLENTY }, stdio: 'ignore' });
    await until(async () => (await simulated.state()).requests[CREATE]! > before, 'the request for it');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const [info] = await provider.list();
    assert.equal(info?.labels.run, 'orphan', 'it is listed by its note');
    assert.deepEqual((await reap([provider])).map(({ id }) => id), [info.id]);
    await none('it to be ended');
    assert.deepEqual(await provider.list(), []);
    assert.deepEqual(await readdir(join(stateDir, 'sandboxes')), []);
  });

  it('a sandbox that is listed and runs nothing, or has vanished, is lost, and ended', async () => {
    await simulated.faults({ zombie: 1 });
    await assert.rejects(restore(), { name: 'SandboxLost' });
    await none('the zombie to be ended');
    await simulated.faults({});
    const sandbox = await restore();
    await simulated.faults({ vanish: 1 });
    await assert.rejects(output(sandbox, 'echo x'), { name: 'SandboxLost' });
    await sandbox.ended;
    await simulated.faults({});
    await assert.rejects(sandbox.files.write('/srv/x', 'x'), { name: 'SandboxLost' });
    await sandbox.terminate();
  });

  it('answers that break off, or end as if they were whole, lose nothing and repeat nothing', async () => {
    const sandbox = await restore();
    for (const fault of ['reset', 'truncate'] as const) {
      await simulated.faults({ [fault]: 0.4 }, 3);
      const counted = await output(sandbox, 'seq 1 20000; echo once >> /srv/ran');
      await simulated.faults({});
      assert.equal(counted, Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join(''), fault);
      assert.equal(await output(sandbox, 'cat /srv/ran; rm /srv/ran'), 'once\n', 'the command ran once');
      await output(sandbox, 'head -c 6000000 /dev/urandom > /srv/large');
      const digest = (await output(sandbox, 'sha256sum </srv/large')).slice(0, 64);
      await simulated.faults({ [fault]: 0.4 }, 3);
      const arrived = createHash('sha256');
      for await (const chunk of await sandbox.files.read('/srv/large')) arrived.update(chunk as Buffer);
      await simulated.faults({});
      assert.equal(arrived.digest('hex'), digest, fault);
      await simulated.faults({ [fault]: 1 });
      await assert.rejects(output(sandbox, 'echo x'), { name: 'SandboxError', retryable: true }, fault);
      await simulated.faults({});
    }
    await sandbox.terminate();
  });

  it('a snapshot that is refused, or given the name of another, is none; nor is a sandbox that is not of its snapshot', async () => {
    const sandbox = await restore();
    await output(sandbox, 'echo other > /srv/state');
    for (const fault of ['snapshotFails', 'duplicateImage'] as const) {
      await simulated.faults({ [fault]: 1 });
      await assert.rejects(sandbox.snapshot('filesystem'), { name: 'SandboxError', retryable: true }, fault);
    }
    await simulated.faults({});
    await sandbox.terminate();
    assert.equal(await output(await restore(), 'cat /srv/state').finally(() => reapAll()), 'prepared\n');
    const [id] = snapshot.ref.split(' ');
    await assert.rejects(provider.restore({ ...snapshot, ref: `${id} ${'0'.repeat(32)}` }, await spec()), /anew instead of from its snapshot/);
    await none('it to be ended');
    await simulated.faults({ coldStart: 1 });
    const cold = await provider.restore(snapshot, await spec(), { lazily: true });
    await simulated.faults({});
    for (const each of [output(cold, 'echo believed'), cold.killAll()]) await assert.rejects(each, { name: 'SandboxError', retryable: true, message: /anew instead of from its snapshot/ });
    await cold.terminate();
  });
  const reapAll = async (): Promise<void> => {
    for (const { id } of await provider.list()) await provider.terminate(id);
  };

  it('an account that allows less than was thought is asked more slowly, and all get their sandbox', async () => {
    const before = (await simulated.state()).requests[CREATE]!;
    const words = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const sandbox = await restore();
        try {
          return await output(sandbox, 'cat /srv/state');
        } finally {
          await sandbox.terminate();
        }
      }),
    );
    assert.deepEqual(words, Array(12).fill('prepared\n'));
    const asked = (await simulated.state()).requests[CREATE]! - before;
    assert.ok(asked < 40, `${asked} requests for 12 sandboxes`);
  });

  it('what it cannot keep is refused before anything is asked for', async () => {
    const before = (await simulated.state()).requests['POST /stubs'];
    for (const wish of [{ resources: { gpu: { count: 'all' } } }, { network: { allow: ['example.com'] } }, { user: '1000' }, { writable: ['/srv'] }, { isolation: 'gvisor' }] as const) {
      await assert.rejects(provider.restore(snapshot, { ...(await spec()), ...wish }), { name: 'Unsupported' }, JSON.stringify(wish));
    }
    assert.equal((await simulated.state()).requests['POST /stubs'], before);
  });

  it('tells a wrong token, no token and no service apart', async () => {
    const check = (environment: Record<string, string>): Promise<Health> => createProvider({ stateDir, environment: { HOME: stateDir, ...environment }, log: () => undefined }).check();
    const { BEAM_TOKEN, BEAM_GATEWAY_URL } = simulated.environment;
    assert.equal((await check(simulated.environment)).ok, true);
    const wrong = await check({ BEAM_GATEWAY_URL, BEAM_TOKEN: 'wrong-token' });
    assert.match(wrong.summary, /refuses the API key/);
    assert.ok(!JSON.stringify(wrong).includes('wrong-token'));
    assert.match((await check({ BEAM_GATEWAY_URL })).summary, /BEAM_TOKEN is not set/);
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    assert.match((await check({ BEAM_TOKEN, BEAM_GATEWAY_URL: `http://127.0.0.1:${port}` })).summary, /cannot be reached \(ECONNREFUSED\)/);
  });
});
