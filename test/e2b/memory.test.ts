/** What runs goes on at E2B, which the simulator really does where this machine has Podman and CRIU: by the vendor's SDK, then by the provider. */
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sandbox, type ConnectionOpts } from 'e2b';
import { ensurePodman } from '../../scripts/setup/podman.mjs';
import { Suspended } from '../../src/sandbox/errors.js';
import { createProvider } from '../../src/sandbox/e2b/index.js';
import { Bench, commandLines, ignoreOutput, output, run, until } from '../integration/conformance/bench.js';
import { counted, COUNTER, next, PORT } from '../integration/conformance/counter.js';
import { memory } from '../integration/conformance/memory.js';
import { skip } from '../support/skip.js';
import { Simulated } from './simulated.js';

const ASK = `python3 -c 'import socket; print(socket.create_connection(("127.0.0.1", ${PORT})).recv(9).decode())'`;

describe('what runs goes on at E2B:', function () {
  this.timeout(180_000);
  let simulated: Simulated | undefined;
  let stop: () => Promise<void>;

  before(async function () {
    this.timeout(600_000);
    const podman = await ensurePodman();
    ({ stop } = podman);
    const lack = podman.missing ?? podman.noCheckpoints;
    if (lack !== undefined) skip(this, lack);
    simulated = await Simulated.start('--memory');
  });
  after(async () => {
    await simulated?.close();
    await stop();
  });

  describe('by the official SDK', () => {
    let options: ConnectionOpts;
    const open: Sandbox[] = [];
    const keep = (sandbox: Sandbox): Sandbox => (open.push(sandbox), sandbox);
    before(() => {
      const { E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl } = simulated!.environment;
      options = { apiKey, apiUrl, sandboxUrl, requestTimeoutMs: 120_000 };
    });
    afterEach(() => Promise.all(open.splice(0).map((sandbox) => sandbox.kill())));

    const ask = async ({ commands }: Sandbox): Promise<number> => Number((await commands.run(ASK)).stdout);
    /** A server that has counted to 3, and the process that it is. */
    const counting = async (): Promise<{ source: Sandbox; pid: number }> => {
      const source = keep(await Sandbox.create('base', { ...options, allowInternetAccess: false }));
      const { pid } = await source.commands.run(`exec python3 -c '${COUNTER}'`, { background: true });
      await until(() => ask(source).then(() => true, () => false), 'the server');
      while ((await ask(source)) < 3);
      return { source, pid };
    };

    it('in each sandbox of a snapshot, in each fork, and after a pause', async () => {
      const { source, pid } = await counting();
      const { snapshotId } = await source.createSnapshot();
      assert.equal(await ask(source), 4, 'the source goes on');
      const forks = await source.fork({ count: 3 });
      const copies = [keep(await Sandbox.create(snapshotId, { ...options, allowInternetAccess: false }))];
      for (const fork of forks) {
        if (!(fork instanceof Sandbox)) throw fork;
        copies.push(keep(fork));
      }
      assert.deepEqual(await Promise.all(copies.map(ask)), [4, 5, 5, 5]);
      assert.deepEqual([await ask(copies[1]!), await ask(copies[2]!), await ask(source)], [6, 6, 5], 'no copy counts for another');
      assert.ok((await copies[1]!.commands.list()).some((each) => each.pid === pid), 'it is listed where it goes on');
      assert.equal(await copies[1]!.commands.kill(pid), true);
      await assert.rejects(ask(copies[1]!));
      assert.ok(!(await copies[1]!.commands.list()).some((each) => each.pid === pid));
      assert.equal(await source.pause(), true);
      assert.equal(await source.pause(), false);
      assert.equal((await source.getInfo()).state, 'paused');
      await assert.rejects(ask(source));
      await source.connect();
      assert.equal(await ask(source), 6);
      await source.pause({ keepMemory: false });
      await source.connect();
      await assert.rejects(ask(source), 'files alone');
      assert.equal(await Sandbox.deleteSnapshot(snapshotId, options), true);
    });
  });

  describe('by the provider:', () => {
    const bench = new Bench();
    before(async () => {
      const stateDir = await mkdtemp(join(tmpdir(), 'rl-e2b-'));
      Object.assign(process.env, simulated!.environment, { RL_SANDBOXES_E2B_CONCURRENT: '500', RL_SANDBOXES_E2B_CREATIONS_PER_SECOND: '500' });
      await bench.start({
        provider: createProvider({ stateDir, log: console.error }),
        base: { image: 'debian:bookworm' },
        context: { stateDir },
        close: () => rm(stateDir, { recursive: true, force: true }),
      });
    });
    after(() => bench.stop());
    afterEach(async () => {
      await bench.terminateAll();
      assert.deepEqual((await simulated!.state()).sandboxes, []);
    });

    memory(bench);

    it('in a sandbox that was suspended, between which nothing can be asked of it', async () => {
      const sandbox = await counted(await bench.restore(), 3);
      const lasting = sandbox.exec(['sh', '-c', 'echo begun; while :; do sleep 0.1; done']);
      ignoreOutput(lasting);
      await until(async () => (await commandLines(sandbox)).some((line) => line.includes('echo begun')), 'the command');
      await sandbox.suspend!();
      assert.equal(sandbox.info.state, 'suspended');
      assert.equal((await bench.provider.list()).find(({ id }) => id === sandbox.id)?.state, 'exited');
      await assert.rejects(lasting.exit, Suspended);
      await assert.rejects(run(sandbox, 'true'), Suspended);
      await assert.rejects(sandbox.files.write('/srv/file', 'text'), Suspended);
      await assert.rejects(sandbox.suspend!(), Suspended);
      await sandbox.resume!();
      assert.equal(sandbox.info.state, 'running');
      assert.equal(await next(sandbox), 4);
      assert.ok((await commandLines(sandbox)).some((line) => line.includes('echo begun')), 'commands go on');
      await assert.rejects(sandbox.resume!(), /is not suspended/);
      await sandbox.suspend!();
      await sandbox.resume!();
      assert.equal(await next(sandbox), 5);
      await sandbox.killAll();
      assert.deepEqual(await sandbox.ports(), []);
      assert.equal(await output(sandbox, 'echo still there'), 'still there\n');
      await sandbox.suspend!();
      await sandbox.terminate();
    });

    it('or it is said that it does not', async () => {
      const sandbox = await counted(await bench.restore(), 1);
      await sandbox.suspend!();
      // The service forgets what ran.
      const { E2B_API_URL: url, E2B_API_KEY: key } = simulated!.environment;
      const { sandboxID } = (await simulated!.state()).sandboxes[0]!;
      const woken = await fetch(`${url}/v2/sandboxes/${sandboxID}/connect`, { method: 'POST', headers: { 'x-api-key': key, 'content-type': 'application/json' }, body: '{"memory":false}' });
      assert.equal(woken.status, 200);
      await assert.rejects(sandbox.resume!(), /has brought back the files of the sandbox, and not what ran in it/);
      assert.equal(await output(sandbox, 'echo still there'), 'still there\n');
    });
  });
});
