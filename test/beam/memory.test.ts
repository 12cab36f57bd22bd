/** Memory snapshots of Beam, which the simulator really takes where this machine has Podman and CRIU: by the vendor's SDK, then by the provider. */
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Image, Sandbox, type SandboxInstance } from '@beamcloud/beam-js';
import { ensurePodman } from '../../scripts/setup/podman.mjs';
import { createProvider } from '../../src/sandbox/beam/index.js';
import { Bench, until } from '../integration/conformance/bench.js';
import { counted, next } from '../integration/conformance/counter.js';
import { memory } from '../integration/conformance/memory.js';
import { skip } from '../support/skip.js';
import { point, silence } from './sdk.js';
import { PLENTY, Simulated } from './simulated.js';

const COUNT = 'n=0; while :; do n=$((n+1)); echo $n > /srv/count; sleep 0.05; done';

describe('memory snapshots of Beam', function () {
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
    let speak: () => void;
    before(() => {
      point(simulated!.environment);
      speak = silence();
    });
    after(() => speak?.());

    it('processes go on in each sandbox of one, apart from the others', async () => {
      // Of an image that no other test names so: the SDK keeps what it was told of each, for all accounts of a process.
      const source = await new Sandbox({ name: 'sdk', image: Image.fromRegistry('debian:bookworm'), keepWarmSeconds: 300, blockNetwork: true }).create();
      const count = async ({ fs }: SandboxInstance): Promise<number> => Number((await fs.readText('/srv/count').catch(() => '0')) || '0');
      await source.exec(['sh', '-c', COUNT]);
      await until(async () => (await count(source)) > 2, 'it to count');
      const id = await source.snapshot();
      const at = await count(source);
      await until(async () => (await count(source)) > at + 2, 'the source to go on');
      const copies = await Promise.all([1, 2].map(() => Sandbox.createFromSnapshot(id)));
      for (const copy of copies) {
        assert.equal(copy.stubId, source.stubId);
        const before = await count(copy);
        await until(async () => (await count(copy)) > before + 2, 'the copy to go on');
      }
      await copies[0]!.terminate();
      const before = await count(copies[1]!);
      await until(async () => (await count(copies[1]!)) > before, 'the other one to go on by itself');
      await Promise.all([source, copies[1]!].map((each) => each.terminate()));
      await assert.rejects(Sandbox.createFromSnapshot('none'), /checkpoint not found/);
    });
  });

  describe('by the provider:', () => {
    const bench = new Bench();
    let stateDir: string;
    before(async () => {
      stateDir = await mkdtemp(join(tmpdir(), 'rl-beam-'));
      await bench.start({
        provider: createProvider({ stateDir, environment: { ...simulated!.environment, ...PLENTY }, log: console.error }),
        base: { image: 'docker.io/library/debian:bookworm' },
        context: { stateDir },
        close: () => rm(stateDir, { recursive: true, force: true }),
      });
    });
    after(() => bench.stop());
    afterEach(async () => {
      await simulated!.faults({});
      await bench.terminateAll();
      await until(async () => (await simulated!.state()).sandboxes.length === 0, 'all of them to end');
    });

    memory(bench);

    it('one that the service has started anew is none; one whose creation was not answered is ended, and no other; each has its own life', async () => {
      const source = await counted(await bench.restore(), 1);
      const snapshot = await source.snapshot('memory');
      await simulated!.faults({ coldStart: 1 });
      await assert.rejects(bench.restore({}, snapshot), /anew instead of from its snapshot|has not brought back what ran/);
      await simulated!.faults({ lostReply: 1 });
      await assert.rejects(bench.restore({}, snapshot), { name: 'SandboxError', retryable: true });
      await simulated!.faults({});
      const [copy, brief] = await Promise.all([bench.restore({}, snapshot), bench.restore({ lifetimeMs: 5000 }, snapshot)]);
      await until(async () => (await simulated!.state()).sandboxes.length <= 2, 'the end of the lost one, and of the brief one');
      assert.equal(await next(source), 2);
      assert.equal(await next(copy), 2);
      await until(async () => !(await bench.provider.list()).some(({ id }) => id === brief.id), 'the end of a life');
      await assert.rejects(bench.restore({ network: 'full' }, snapshot), { name: 'Unsupported', message: /have no network/ });
    });
  });
});
