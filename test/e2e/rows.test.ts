/** A thousand live sandboxes that change ten times a second, in a real window: nothing flickers under the mouse, and a click ends the row that was clicked. */
import assert from 'node:assert/strict';
import { skip } from '../support/skip.js';
import { VsCodeMissing } from '../support/vscode.js';
import { RowsWindow, type Cost } from './rows/window.js';

const COUNT = 1000;
const SECONDS = 4;
/** The list is asked for once a second at most, and may be under way when it begins and when it ends. */
const mostLists = ({ seconds }: Cost): number => seconds + 2;

describe('a thousand live sandboxes in the sidebar', function () {
  this.timeout(240_000);
  let rows: RowsWindow;

  before(async function () {
    if (process.platform !== 'linux') skip(this, 'processor time is read from /proc');
    rows = await RowsWindow.open(COUNT).catch((error: unknown) => {
      if (error instanceof VsCodeMissing) skip(this, error.message);
      throw error;
    });
    await rows.workbench.openView();
    await rows.showAll(COUNT);
  });
  after(() => rows?.close());

  const calm = (cost: Cost) => {
    const { flickers, frames, asked } = cost;
    const told = JSON.stringify(cost);
    assert.ok(frames > 10 && asked.changes > 5 * SECONDS, told);
    assert.equal(flickers, 0, told);
    assert.ok(asked.lists >= 1 && asked.lists <= mostLists(cost), told);
  };

  it('of which ten use more or less ten times a second: these are drawn again, and no others', async () => {
    rows.churn('figures');
    const cost = await rows.measure(SECONDS, 'bw-0003');
    calm(cost);
    assert.equal(cost.drawn.whole, 0);
    assert.ok(cost.drawn.some <= mostLists(cost) && cost.drawn.items <= 30 * cost.drawn.some, JSON.stringify(cost.drawn));
  });

  it('of which besides one ends and one begins each second: the row under the mouse stays as it is', async () => {
    rows.churn('rows');
    const cost = await rows.measure(SECONDS, 'bw-0003');
    calm(cost);
    assert.ok(cost.drawn.whole >= 1 && cost.drawn.whole <= mostLists(cost), JSON.stringify(cost.drawn));
  });

  for (const id of ['bw-0001', 'bw-0002', 'bw-0003']) {
    it(`and of which meanwhile ${id} is ended by its button: the one that was clicked, and no other`, async () => {
      const { clicked, named, ended } = await rows.end(id);
      assert.notEqual(clicked, '');
      assert.deepEqual([named, ended], [clicked, clicked]);
      await rows.row(`bw-${clicked}`).waitFor({ state: 'detached' });
    });
  }

  it('are not asked for while nobody sees them, however often they change', async () => {
    await rows.workbench.command('View: Toggle Primary Side Bar Visibility');
    await rows.row('bw-0004').waitFor({ state: 'hidden' });
    await rows.measure(1);
    const { asked, drawn } = await rows.measure(SECONDS);
    assert.ok(asked.changes > 5 * SECONDS);
    assert.deepEqual({ all: asked.all, drawn }, { all: 0, drawn: { whole: 0, some: 0, items: 0 } });
  });
});
