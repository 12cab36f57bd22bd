/** What a view draws again, and that nothing that was clicked loses its item meanwhile. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { sees } from '../../support/sees.js';
import type { Node } from '../../../src/extension/views/node.js';
import { COALESCE_MS, TreeModel } from '../../../src/extension/views/treeModel.js';

const node = (id: string, description: string): Node => ({ id, label: id, description, spoken: id });

/** A view of two items, what it holds, and the ids that it draws again; `all` for the whole of it. */
async function view() {
  const shown = { top: [node('a', '1'), node('b', '1')], beneath: ['a/1', 'a/2'] };
  const drawn: string[] = [];
  const model = new TreeModel({
    load: (parent) => Promise.resolve(parent ? shown.beneath.map((id) => node(id, '1')) : shown.top),
    changed: (handles) => drawn.push(...(handles ? handles.map(({ id }) => id) : ['all'])),
    isVisible: () => true,
  });
  await model.children();
  const settled = () => delay(3 * COALESCE_MS);
  return { model, shown, drawn, settled };
}

describe('a view that is refreshed', () => {
  it('draws only what says something else, where the items are the same', async () => {
    const { model, shown, drawn, settled } = await view();
    shown.top = [node('a', '1'), node('b', '2')];
    model.refresh();
    await settled();
    await sees(() => drawn, ['b']);
  });

  it('loses no change of one item that comes together with a refresh of all', async () => {
    const { model, shown, drawn, settled } = await view();
    shown.top = [node('a', '2'), node('b', '1')];
    model.update(shown.top[0]!);
    model.refresh();
    await settled();
    await sees(() => drawn, ['a']);
  });

  it('leaves what is beneath an item alone where it is the same, and loads it again where it is not', async () => {
    const { model, shown, drawn, settled } = await view();
    await model.children(model.get('a'));
    model.refresh();
    await settled();
    assert.deepEqual(drawn, []);
    shown.beneath = ['a/1', 'a/2', 'a/3'];
    model.refresh();
    await settled();
    await sees(() => drawn, ['a']);
  });

  it('is drawn whole where items come, go or change places', async () => {
    const { model, shown, drawn, settled } = await view();
    shown.top = [node('b', '1'), node('a', '1')];
    model.refresh();
    await settled();
    await sees(() => drawn, ['all']);
  });

  it('is left to its first load when it is refreshed meanwhile, so that what is clicked then has its item', async () => {
    const { model, loads, drawn } = slowView();
    const shown = model.children();
    model.refresh();
    await delay(2 * COALESCE_MS);
    assert.deepEqual(drawn, []);
    loads.shift()!([node('a', '1')]);
    await shown;
    // What was asked for meanwhile is compared with what came.
    await sees(() => loads.length, 1);
    loads.shift()!([node('a', '2')]);
    await sees(() => drawn, ['a']);
  });

  it('loads what is beneath an item once more when it changed while it was being loaded', async () => {
    const { model, loads, drawn } = slowView();
    const top = model.children();
    loads.shift()!([node('a', '1')]);
    const [item] = await top;
    const beneath = model.children(item);
    model.update(node('a', '2'));
    await sees(() => drawn, ['a']);
    // VS Code keeps the answer to the question that it had asked before.
    loads.shift()!([]);
    await beneath;
    await sees(() => drawn, ['a', 'a']);
  });
});

/** A view whose loads a test answers. */
function slowView() {
  const loads: ((nodes: readonly Node[]) => void)[] = [];
  const drawn: string[] = [];
  const model = new TreeModel({
    load: () => new Promise((resolve) => loads.push(resolve)),
    changed: (handles) => drawn.push(...(handles ? handles.map(({ id }) => id) : ['all'])),
    isVisible: () => true,
  });
  return { model, loads, drawn };
}
