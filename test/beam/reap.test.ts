/** Sandboxes at Beam of which this folder has no note: what their names say, to whom it may concern. */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reap } from '../../src/engine/reap.js';
import { accountOf } from '../../src/sandbox/beam/account.js';
import { Gateway } from '../../src/sandbox/beam/gateway.js';
import { createProvider } from '../../src/sandbox/beam/index.js';
import { nameOf } from '../../src/sandbox/beam/name.js';
import { stubOf } from '../../src/sandbox/beam/stub.js';
import { currentOwner } from '../../src/sandbox/owner.js';
import type { Provider, SandboxLabels, SandboxSpec } from '../../src/sandbox/provider.js';
import { machineHash } from '../../src/sandbox/remote/labels.js';
import { PLENTY, Simulated } from './simulated.js';

const IMAGE = 'docker.io/library/debian:bookworm';
const GONE = '4194305:1:another-boot';

describe('sandboxes of Beam without a note', function () {
  this.timeout(60_000);
  let simulated: Simulated;
  let folders: string[];
  let here: Provider;
  let there: Provider;

  before(async () => {
    simulated = await Simulated.start();
    folders = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), 'rl-beam-'))));
    [here, there] = folders.map((stateDir) => createProvider({ stateDir, environment: { ...simulated.environment, ...PLENTY }, log: console.error })) as [Provider, Provider];
  });
  after(async () => {
    await Promise.all([here?.close(), there?.close()]);
    await simulated?.close();
    await Promise.all((folders ?? []).map((folder) => rm(folder, { recursive: true, force: true })));
  });

  const labelled = (labels: Partial<SandboxLabels>): SandboxSpec => ({ labels: { owner: GONE, expires: Date.now() + 600_000, ...labels }, resources: {}, env: {}, network: 'none', lifetimeMs: 600_000 });
  const names = async (): Promise<string[]> => (await simulated.state()).sandboxes.map(({ name }) => name);

  it('of this machine are listed with run and episode, and ended if their owner is gone, and only then', async () => {
    const left = await there.create({}, labelled({ run: 'far-1', episode: 3 }));
    const living = await there.create({}, labelled({ owner: await currentOwner(), run: 'far-2' }));
    const found = await here.list();
    assert.deepEqual(found.map(({ id }) => id).sort(), [left.id, living.id].sort());
    const { labels, state } = found.find(({ id }) => id === left.id)!;
    assert.deepEqual({ owner: labels.owner, run: labels.run, episode: labels.episode, state }, { owner: GONE, run: 'far-1', episode: 3, state: 'running' });
    const asked = (await simulated.state()).requests['GET /api/v1/stub/*'];
    await here.list();
    assert.equal((await simulated.state()).requests['GET /api/v1/stub/*'], asked, 'a name is asked for once');
    assert.equal((await there.list()).length, 2, 'those with a note are not listed twice');
    assert.deepEqual((await reap([here])).map(({ id }) => id), [left.id]);
    assert.deepEqual((await names()).map((name) => name.endsWith(living.id)), [true]);
    assert.deepEqual(await readdir(join(folders[0]!, 'sandboxes')).catch(() => []), []);
    await Promise.all([left, living].map((each) => each.terminate()));
  });

  it('of another machine are ended when their lives are over; those of strangers, and with names that are cut or made up, never', async () => {
    const gateway = new Gateway(accountOf(simulated.environment));
    const imageId = await gateway.image(IMAGE, AbortSignal.timeout(60_000), () => undefined);
    const make = async (name: string): Promise<void> => {
      const signal = AbortSignal.timeout(60_000);
      await gateway.pod({ stubId: await gateway.stub(stubOf(name, imageId, labelled({})), signal) }, signal);
    };
    const elsewhere = async (expires: number): Promise<string> => (await nameOf(randomBytes(8).toString('hex'), { owner: GONE, run: 'r', episode: 0, expires })).replace(await machineHash(), 'f'.repeat(16));
    const [over, lasting] = await Promise.all([elsewhere(Date.now() - 1), elsewhere(Date.now() + 600_000)]);
    const strange = ['sandbox', over.slice(0, -1), over.slice(0, 60), over.slice(1), over.replace('rl-sandboxes', 'rl-other'), over.replace('.r.', '.\u001b[2J../..\n.'), `${over}\n`, over.replace(/[0-9a-f]{16}$/, '../../../../../x'), 'x'.repeat(255)];
    // One after the other: a container that comes long after its stub is not judged.
    for (const name of [over, lasting, ...strange]) await make(name);
    assert.deepEqual((await here.list()).map(({ id }) => id), [over.slice(-16)]);
    assert.deepEqual((await reap([here])).map(({ labels }) => labels.run), ['r']);
    assert.deepEqual((await names()).sort(), [lasting, ...strange].sort());
    await here.terminate(lasting.slice(-16));
    assert.equal((await names()).length, 1 + strange.length, 'nor by its id');
  });

  it('are left alone as long as the service does not say their names, and what has a note is listed all the same', async () => {
    const noted = await here.create({}, labelled({}));
    const other = await there.create({}, labelled({}));
    await simulated.faults({ noNames: 1 });
    assert.deepEqual((await here.list()).map(({ id }) => id), [noted.id]);
    await simulated.faults({});
    assert.deepEqual((await here.list()).map(({ id }) => id).sort(), [noted.id, other.id].sort());
    await Promise.all([noted, other].map((each) => each.terminate()));
  });
});
