/** What every provider has to tell of a snapshot and the one that it was made from, by the engine. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Engine } from '../../src/engine/engine.js';
import { listSandboxes, terminateAll } from '../../src/engine/sandboxes/list.js';
import { openSandbox } from '../../src/engine/sandboxes/open.js';
import { changesOfSnapshot } from '../../src/engine/snapshots/changes.js';
import { deleteSnapshot, describeSnapshot } from '../../src/engine/snapshots/manage.js';
import { takeSnapshot } from '../../src/engine/snapshots/take.js';

const SETUP = 'mkdir -p /srv/d/old /srv/gone/deep && cd /srv && echo one > d/state && touch d/old/x gone/a gone/deep/b same && ln -s d link && echo aaaa > quiet && echo kept > alike && ln -s here turned';
/** An engine that goes by size and time sees nothing of what is as long as before and came within a second. Of `quiet` and `turned` nothing but what they hold or lead to is other, and of `alike` nothing at all. */
const CHANGE = `cd /srv && echo another > d/state && rm -r gone d/old && echo file > d/old && mkdir -p 'fresh/f o' && echo new > "fresh/f o/$(printf 'n\\nl')" && ln -sfn fresh link && chmod 600 same
cp -p quiet /tmp/then && echo bbbb > quiet && touch -r /tmp/then quiet
cp -p alike again && mv again alike
time=$(stat -c %y turned) && ln -sfn gone turned && touch -h -d "$time" turned && rm /tmp/then`;

export interface Compared {
  /** That the template names. */
  readonly image?: string;
  /** Whether the provider, asked what a sandbox has changed, takes files of the same size and time for the same. Its snapshots have what was written all the same. */
  readonly bySizeAndTime?: boolean;
  readonly close?: () => Promise<void>;
}

export function comparesSnapshots(provider: string, open: () => Promise<Compared>): void {
  describe(`${provider}: a snapshot and its parent`, function () {
    this.timeout(180_000);
    const { signal } = new AbortController();
    let root: string;
    let engine: Engine;
    let subject: Compared;
    let file: string;

    before(async function () {
      this.timeout(600_000);
      subject = await open();
      root = await mkdtemp(join(tmpdir(), 'rl-compare-'));
      file = join(root, 'compared.rlenv.yaml');
      await writeFile(file, `name: compared\n${subject.image ? `image: ${subject.image}\n` : ''}setup: [{run: ${JSON.stringify(SETUP)}}]\nepisode: {run: 'echo 1'}\n`);
      engine = await Engine.open({ root });
    });
    after(async () => {
      if (engine) {
        await terminateAll(engine);
        for (const { id } of await engine.snapshots.list()) await deleteSnapshot(engine, id);
        await engine.close();
        await rm(root, { recursive: true, force: true });
      }
      await subject?.close?.();
    });

    it('are compared file by file, by what is in them where nothing else tells, and read on both sides', async () => {
      const held = await openSandbox(engine, { file, provider, signal });
      const child = held.sandbox.exec(['sh', '-c', CHANGE]);
      const [, errors, { code }] = await Promise.all([text(child.stdout), text(child.stderr), child.exit]);
      assert.equal(code, 0, errors);
      const told = (await held.sandbox.changes()).map(({ kind, path }) => `${kind} ${path}`);
      // Of a link that leads nowhere Podman says that it was added.
      for (const one of ['modified /srv/d/state', 'removed /srv/gone', ...(subject.bySizeAndTime ? [] : ['modified /srv/quiet', 'modified /srv/turned'])]) assert.ok(told.includes(one) || told.includes(one.replace(/^modified (.*turned)$/, 'added $1')), `${one} is not among ${told.join(', ')}`);

      const parent = held.making.snapshot.id;
      const { id } = await takeSnapshot(engine, held.sandbox, held.making, 'filesystem', { name: 'after' }, signal);
      await held.terminate();
      const found = await changesOfSnapshot(engine, id, signal);
      assert.equal(found.parent, parent);
      assert.deepEqual(found.changes.map(({ kind, path }) => `${kind} ${path}`).sort(), [
        'added /srv/d/old',
        'added /srv/fresh/f o/n\nl',
        'modified /srv/d/state',
        'modified /srv/link',
        'modified /srv/quiet',
        'modified /srv/same',
        'modified /srv/turned',
        'removed /srv/d/old/x',
        'removed /srv/gone/a',
        'removed /srv/gone/deep/b',
      ]);
      const content = async (snapshot: string) => text(await (await engine.looks.into(engine, snapshot)).files.read('/srv/quiet'));
      assert.deepEqual([await content(parent), await content(id)], ['aaaa\n', 'bbbb\n']);
      // Nobody is told of the sandboxes that are looked into, and they keep nothing from being deleted.
      assert.deepEqual(await listSandboxes(engine), []);
      assert.equal((await describeSnapshot(engine, id)).live, 0);
      await assert.rejects(changesOfSnapshot(engine, parent, signal), /was built, not made from another/);
      await deleteSnapshot(engine, parent);
      await assert.rejects(changesOfSnapshot(engine, id, signal), /was deleted on/);
      assert.deepEqual((await held.making.provider.list()).filter(({ labels }) => labels.template === 'compared').map(({ labels }) => labels.snapshot), [id]);
    });
  });
}
