/** What the view of live sandboxes costs in a real VS Code: a thousand of them, of which what ten use changes ten times a second. */
import { RowsWindow, type Cost } from '../test/e2e/rows/window.js';
import { VsCodeMissing } from '../test/support/vscode.js';
import type { Figure } from './measure.js';

const COUNT = 1000;
const SECONDS = 10;
/** Rows that are clicked on to be ended while they change. */
const CLICKED = ['bw-0001', 'bw-0002', 'bw-0003', 'bw-0004'];
/** Whose button the mouse is on. */
const LOOKED_AT = 'bw-0003';

export async function vscodeTree(): Promise<Figure[]> {
  try {
    return await measured(await RowsWindow.open(COUNT));
  } catch (error) {
    if (!(error instanceof VsCodeMissing)) throw error;
    return [{ what: 'VS Code: live sandboxes', ours: 'not measured', floor: error.message, ratio: '', target: '', met: undefined }];
  }
}

async function measured(rows: RowsWindow): Promise<Figure[]> {
  try {
    await rows.workbench.openView();
    await rows.showAll(COUNT);
    const still = await rows.measure(SECONDS, LOOKED_AT);
    rows.churn('figures');
    const figures = await rows.measure(SECONDS, LOOKED_AT);
    rows.churn('rows');
    const changing = await rows.measure(SECONDS, LOOKED_AT);
    let right = 0;
    for (const id of CLICKED) {
      const { clicked, named, ended } = await rows.end(id);
      if (clicked !== '' && named === clicked && ended === clicked) right += 1;
    }
    await rows.workbench.command('View: Toggle Primary Side Bar Visibility');
    await rows.row('bw-0000').waitFor({ state: 'hidden' });
    await rows.measure(1);
    const hidden = await rows.measure(SECONDS);
    return [
      cost(`VS Code: ${COUNT} live sandboxes in view, 10 of them change 10 times a second`, figures, still),
      cost('the same, and one ends and one begins each second', changing, still),
      { what: 'clicks on the button of a row meanwhile that ended the row that was clicked', ours: `${right} of ${CLICKED.length}`, floor: '', ratio: '', target: `${CLICKED.length}`, met: right === CLICKED.length },
      { what: 'the same with the view hidden: requests to the engine, processor time', ours: `${hidden.asked.all}, ${share(hidden)}`, floor: '', ratio: '', target: '0', met: hidden.asked.all === 0 },
    ];
  } finally {
    await rows.close();
  }
}

const share = ({ processor, seconds }: Cost): string => `${(processor / seconds / 10).toFixed(1)} % of a core`;

function cost(what: string, now: Cost, still: Cost): Figure {
  const { asked, drawn, flickers, frames, readded } = now;
  const ours = `${asked.lists} lists for ${asked.changes} changes; drawn: view ${drawn.whole}, rows ${drawn.items}; ${flickers} flickers in ${frames} frames, ${readded} rows re-added; extension host ${share(now)}`;
  return { what, ours, floor: `${share(still)} (nothing changes)`, ratio: '', target: '0 flickers', met: flickers === 0 };
}
