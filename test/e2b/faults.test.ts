/** What the provider makes of faults of the service, one at a time. */
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Sandbox as VendorSandbox } from 'e2b';
import { reap } from '../../src/engine/reap.js';
import { createProvider } from '../../src/sandbox/e2b/index.js';
import { currentOwner } from '../../src/sandbox/owner.js';
import type { Health, Provider, ProviderSnapshot, Sandbox, SandboxSpec } from '../../src/sandbox/provider.js';
import { output, until } from '../integration/conformance/bench.js';
import { Simulated } from './simulated.js';

const ORPHAN = fileURLToPath(new URL('../integration/conformance/orphan.ts', import.meta.url));
const PLENTY = { RL_SANDBOXES_E2B_CONCURRENT: '100', RL_SANDBOXES_E2B_CREATIONS_PER_SECOND: '100' };

describe('E2B when it fails', function () {
  this.timeout(60_000);
  let simulated: Simulated;
  let stateDir: string;
  let provider: Provider;
  let snapshot: ProviderSnapshot;

  const spec = async (): Promise<SandboxSpec> => ({ labels: { owner: await currentOwner(), run: 'faults', expires: Date.now() + 600_000 }, resources: {}, env: {}, network: 'none', lifetimeMs: 600_000 });
  const restore = async (): Promise<Sandbox> => provider.restore(snapshot, await spec());
  const none = (what: string): Promise<void> => until(async () => (await simulated.state()).sandboxes.length === 0, what);

  before(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'rl-e2b-'));
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
    await until(async () => (await readdir(join(stateDir, 'creating'))).length === 0, 'its note to be gone');
  });

  it('a creation whose owner was killed before the answer is found, listed and reaped', async () => {
    await simulated.faults({ slowCreate: 1 });
    const before = (await simulated.state()).requests['POST /v2/sandboxes'] ?? 0;
    const child = spawn(process.execPath, ['--import', 'tsx', ORPHAN, 'e2b', stateDir, JSON.stringify(snapshot)], { env: { ...process.env, ...simulated.environment, ...PLENTY }, stdio: 'ignore' });
    await until(async () => (await simulated.state()).requests['POST /v2/sandboxes']! > before, 'the request for it');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const notes = await readdir(join(stateDir, 'creating'));
    const [info] = await provider.list();
    assert.equal(info?.labels.run, 'orphan', 'it is listed, by its note or by the service');
    assert.deepEqual(notes, [`${info.id}.json`]);
    await until(async () => (await simulated.state()).sandboxes.length === 1, 'the service to have created it');
    assert.deepEqual((await reap([provider])).map(({ id }) => id), [info.id]);
    await none('it to be ended');
    assert.deepEqual(await provider.list(), []);
  });

  it('a sandbox that is listed and answers nothing, or has vanished, is lost, and ended', async () => {
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

  it('output that breaks off, or ends as if it were whole, is an error, never a result', async () => {
    for (const fault of ['reset', 'truncate'] as const) {
      const sandbox = await restore();
      await simulated.faults({ [fault]: 1 });
      await assert.rejects(output(sandbox, 'cat /srv/state'), { name: 'SandboxError', retryable: true }, fault);
      await simulated.faults({});
      assert.equal(await output(sandbox, 'cat /srv/state'), 'prepared\n', 'the sandbox itself is sound');
      await sandbox.terminate();
    }
  });

  it('a sandbox that is not of its snapshot is not taken for one', async () => {
    const [id, , memory] = snapshot.ref.split(' ');
    await assert.rejects(provider.restore({ ...snapshot, ref: `${id} ${'0'.repeat(32)} ${memory}` }, await spec()), /anew instead of from its snapshot/);
    await none('it to be ended');
    await simulated.faults({ coldStart: 1 });
    await assert.rejects(restore(), /anew instead of from its snapshot/);
    await none('it to be ended');
  });

  it('a sandbox that is taken unseen shows with the first command that it is of its snapshot; if it is not, nothing is run in it', async () => {
    const lazily = async (): Promise<Sandbox> => provider.restore(snapshot, await spec(), { lazily: true });
    const asked = async (): Promise<number> => (await simulated.state()).requests['POST /process.Process/Start']!;
    const before = await asked();
    const sound = await lazily();
    assert.deepEqual(await Promise.all([output(sound, 'cat /srv/state'), output(sound, 'echo too')]), ['prepared\n', 'too\n']);
    assert.equal((await asked()) - before, 2);
    await simulated.faults({ coldStart: 1 });
    const cold = await lazily();
    await simulated.faults({});
    const anew = { name: 'SandboxError', retryable: true, message: 'E2B has started the sandbox anew instead of from its snapshot' };
    await assert.rejects(output(cold, 'echo believed; touch /srv/ran'), anew);
    await assert.rejects(cold.killAll(), anew);
    await assert.rejects(cold.files.write('/srv/x', 'x'), anew);
    const { E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl } = simulated.environment;
    const ids = (await simulated.state()).sandboxes.filter(({ metadata }) => metadata['rl-sandboxes.id'] === cold.id).map(({ sandboxID }) => sandboxID);
    const there = await VendorSandbox.connect(ids[0]!, { apiKey, apiUrl, sandboxUrl });
    assert.deepEqual([await there.files.exists('/srv/state'), await there.files.exists('/srv/ran')], [false, false]);
    await Promise.all([sound.terminate(), cold.terminate()]);
    await none('them to be ended');
  });

  it('an account that allows less than was thought is asked more slowly, and all get their sandbox', async () => {
    const before = (await simulated.state()).requests['POST /v2/sandboxes']!;
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
    const asked = (await simulated.state()).requests['POST /v2/sandboxes']! - before;
    assert.ok(asked < 40, `${asked} requests for 12 sandboxes`);
  });

  it('what it cannot keep is refused before anything is asked for', async () => {
    const before = (await simulated.state()).requests['POST /v2/sandboxes'];
    for (const wish of [{ resources: { gpu: { count: 1 } } }, { network: { allow: ['example.com'] } }, { user: '1000' }, { writable: ['/srv'] }, { isolation: 'gvisor' }] as const) {
      await assert.rejects(provider.restore(snapshot, { ...(await spec()), ...wish }), { name: 'Unsupported' }, JSON.stringify(wish));
    }
    assert.equal((await simulated.state()).requests['POST /v2/sandboxes'], before);
  });

  it('tells a wrong key, no key, no quota and no service apart', async () => {
    const check = (environment: Record<string, string>): Promise<Health> => createProvider({ stateDir, environment, log: () => undefined }).check();
    const { E2B_API_KEY: key, ...urls } = simulated.environment;
    const { ok, account } = await check({ ...simulated.environment, RL_SANDBOXES_E2B_CONCURRENT: '7' });
    assert.deepEqual({ ok, account }, { ok: true, account: { service: simulated.environment.E2B_API_URL, live: 0, concurrent: 7, creationsPerSecond: 1 } });
    const wrong = await check({ ...urls, E2B_API_KEY: 'e2b_wrong' });
    assert.match(wrong.summary, /refuses the API key/);
    assert.equal(wrong.code, 'wrong-key');
    assert.ok(!JSON.stringify(wrong).includes('e2b_wrong'));
    const none = await check(urls);
    assert.deepEqual([none.code, none.summary], ['signed-out', 'E2B_API_KEY is not set']);
    await simulated.faults({ rateLimit: 1 });
    const full = await check(simulated.environment);
    assert.equal(full.code, 'quota', full.summary);
    assert.match(full.hint!, /larger plan/);
    await simulated.faults({});
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    const closedDoor = await check({ ...urls, E2B_API_KEY: key, E2B_API_URL: `http://127.0.0.1:${port}` });
    assert.equal(closedDoor.code, 'no-network');
    assert.match(closedDoor.summary, /cannot be reached \(ECONNREFUSED\)/);
  });
});
