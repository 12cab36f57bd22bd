/** Many live sandboxes that change all the time: what is asked, what is drawn, and what a command acts on. */
import assert from 'node:assert/strict';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { Sandboxes } from '../../../src/extension/sandboxes.js';
import { sandboxNode } from '../../../src/extension/views/sandboxNodes.js';
import { COALESCE_MS, TreeModel, type Handle } from '../../../src/extension/views/treeModel.js';
import type { SandboxReport } from '../../../src/runner/sandboxApi.js';
import { sees } from '../../support/sees.js';
import { FakeRunner } from './fakeRunner.js';
import { NOW, ROOT, sandbox } from './samples.js';

const COUNT = 1000;
const name = (index: number) => `bw-${String(index).padStart(8, '0')}`;
const list = (cpu: (index: number) => number, ids = Array.from({ length: COUNT }, (_, index) => index)): SandboxReport[] =>
  ids.map((index) => sandbox({ id: name(index), createdAt: NOW + index, usage: { cpu: cpu(index), cpuMs: 0, memory: 41_000_000, pids: 1, at: 0 } }));

function build(runner: FakeRunner) {
  const sandboxes = new Sandboxes({ runner, roots: () => [ROOT], pollMs: 20 });
  const drawn = { all: 0, some: 0, handles: 0 };
  const model: TreeModel = new TreeModel({
    load: () => Promise.resolve(sandboxes.known().map(sandboxNode)),
    changed: (handles) => {
      if (!handles) drawn.all += 1;
      else {
        drawn.some += 1;
        drawn.handles += handles.length;
      }
    },
    isVisible: () => true,
  });
  sandboxes.onDidChange((known) => model.show(undefined, known.map(sandboxNode)));
  return { sandboxes, model, drawn };
}

const at = (handles: readonly Handle[], index: number) => handles.find(({ node }) => node.sandbox?.id === name(index))!;

describe('a view of 1,000 sandboxes that change ten times a second', () => {
  it('draws only those that say something else, several changes at once, and never all of them', async () => {
    let round = 0;
    // Ten of them work; what the others use stays the same.
    const runner = new FakeRunner({ 'sandbox/list': () => list((index) => (index < 10 ? ((round += 1) % 90) / 100 : 0)) });
    const { sandboxes, model, drawn } = build(runner);
    await sandboxes.list();
    const handles = await model.children();
    assert.equal(handles.length, COUNT);
    const began = performance.now();
    for (let step = 0; step < 10; step += 1) {
      await sandboxes.list();
      await delay(10);
    }
    await sees(() => drawn.some > 0, true);
    await delay(1.5 * COALESCE_MS);
    assert.equal(drawn.all, 0);
    const most = 1 + (performance.now() - began) / COALESCE_MS;
    assert.ok(drawn.some <= most, `${drawn.some} times, at most ${most}`);
    assert.ok(drawn.handles <= 10 * drawn.some, `${drawn.handles} items drawn`);
    assert.deepEqual(await model.children(), handles, 'VS Code holds the same objects as before');
    sandboxes.dispose();
    model.dispose();
  });

  it('loads the list again only when there are others, and a command acts on the item that was clicked', async () => {
    let ids = Array.from({ length: COUNT }, (_, index) => index);
    const runner = new FakeRunner({ 'sandbox/list': () => list(() => 0, ids) });
    const { sandboxes, model, drawn } = build(runner);
    await sandboxes.list();
    const clicked = at(await model.children(), 500);
    ids = ids.filter((index) => index > 100 && index !== 500).concat(5000);
    await sandboxes.list();
    await sees(() => drawn.all, 1);
    await model.children();
    assert.equal(clicked.node.sandbox?.id, name(500), 'what was clicked is what the command is given, though it is gone');
    assert.equal(sandboxes.get(clicked.node.sandbox), undefined);
    sandboxes.dispose();
    model.dispose();
  });

  it('redraws nothing where nobody looks', async () => {
    const runner = new FakeRunner({ 'sandbox/list': () => list(() => 0) });
    const { sandboxes, model, drawn } = build(runner);
    await sandboxes.list();
    await delay(150);
    assert.deepEqual(drawn, { all: 0, some: 0, handles: 0 }, 'the view has asked for nothing yet');
    sandboxes.dispose();
    model.dispose();
  });
});

describe('the list of sandboxes', () => {
  it('is asked for again and again while a person looks, and not at all otherwise', async () => {
    const runner = new FakeRunner({ 'sandbox/list': () => [sandbox()] });
    const sandboxes = new Sandboxes({ runner, roots: () => [ROOT], pollMs: 5 });
    runner.notify('changed', { root: ROOT, kind: 'sandboxes' });
    await delay(30);
    assert.equal(runner.count('sandbox/list'), 0);
    sandboxes.watch(true);
    await sees(() => runner.count('sandbox/list') >= 2, true);
    sandboxes.watch(false);
    await turn();
    const asked = runner.count('sandbox/list');
    assert.deepEqual(runner.asked[0]!.params, { root: ROOT, measure: true });
    await delay(30);
    assert.equal(runner.count('sandbox/list'), asked);
    sandboxes.dispose();
  });

  it('believes no answer from before something was ended here', async () => {
    const gone = sandbox({ id: 'bw-gone' });
    const held: (() => void)[] = [];
    let answers = [[gone, sandbox()], [sandbox()]];
    const runner = new FakeRunner({ 'sandbox/list': () => new Promise((resolve) => held.push(() => resolve(answers.shift()!))) });
    const sandboxes = new Sandboxes({ runner, roots: () => [ROOT] });
    const listed = sandboxes.list();
    await turn();
    sandboxes.dropped(gone);
    held.shift()!();
    await turn();
    held.shift()!();
    assert.deepEqual((await listed).map(({ sandbox: { id } }) => id), ['bw-0007c1e']);
    answers = [];
    sandboxes.dispose();
  });

  it("puts a person's own first, then the oldest, and asks the folder whose engine holds one", async () => {
    const other = { origin: 'other', labels: { owner: 'o', episode: 1, expires: 0 } } as const;
    const runner = new FakeRunner({
      'sandbox/list': ({ root }) =>
        root === '/a'
          ? [sandbox({ id: '1', createdAt: 1, ...other }), sandbox({ id: '3', createdAt: 3 })]
          : [sandbox({ id: '3', createdAt: 3, attached: false }), sandbox({ id: '2', createdAt: 2 })],
    });
    const sandboxes = new Sandboxes({ runner, roots: () => ['/a', '/b'] });
    assert.deepEqual((await sandboxes.list()).map(({ root, sandbox: { id } }) => [root, id]), [['/b', '2'], ['/a', '3'], ['/a', '1']]);
    sandboxes.dispose();
  });

  it('says that it could not be listed, and goes on', async () => {
    let broken = true;
    const runner = new FakeRunner({
      'sandbox/list': () => {
        if (broken) throw new Error('docker hangs');
        return [sandbox()];
      },
    });
    const sandboxes = new Sandboxes({ runner, roots: () => [ROOT], pollMs: 5 });
    const failed = new Promise<unknown>((resolve) => void sandboxes.onDidFail(resolve));
    sandboxes.watch(true);
    assert.match(String(await failed), /docker hangs/);
    broken = false;
    await new Promise<void>((resolve) => void sandboxes.onDidChange(() => resolve()));
    assert.equal(sandboxes.known().length, 1);
    sandboxes.dispose();
  });
});
