/** Memory snapshots of Beam, which the simulator really takes where this machine has Podman and CRIU: by the vendor's SDK, then by the provider. */
import { strict as assert } from 'node:assert';
import { Image, Sandbox, type SandboxInstance } from '@beamcloud/beam-js';
import { ensurePodman } from '../../scripts/setup/podman.mjs';
import { until } from '../integration/conformance/bench.js';
import { skip } from '../support/skip.js';
import { point, silence } from './sdk.js';
import { Simulated } from './simulated.js';

const COUNT = 'n=0; while :; do n=$((n+1)); echo $n > /srv/count; sleep 0.05; done';

describe('memory snapshots of Beam, by the official SDK', function () {
  this.timeout(120_000);
  let simulated: Simulated | undefined;
  let speak: () => void;
  let stop: () => Promise<void>;

  before(async function () {
    this.timeout(600_000);
    const podman = await ensurePodman();
    ({ stop } = podman);
    const lack = podman.missing ?? podman.noCheckpoints;
    if (lack !== undefined) skip(this, lack);
    simulated = await Simulated.start('--memory');
    point(simulated.environment);
    speak = silence();
  });
  after(async () => {
    speak?.();
    await simulated?.close();
    await stop();
  });

  it('processes go on in each sandbox of one, apart from the others', async () => {
    const source = await new Sandbox({ name: 'sdk', image: Image.fromRegistry('debian'), keepWarmSeconds: 300, blockNetwork: true }).create();
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
