/** Runs inside the window: what a person sees of a row under the mouse while the rows change. Each function stands alone, since it travels to the page as text. */

/** What was seen. */
export interface Seen {
  readonly frames: number;
  /** Frames in which the row under the mouse, or its button, was not there, or was another element than in the frame before though the row was the same. */
  readonly flickers: number;
  /** Rows that were taken out of the page, and how many of these came back under the same name. */
  readonly removed: number;
  readonly readded: number;
}

/** Begins to look at a place of the window, where the button of a row is. */
export function beginLooking({ x, y }: { readonly x: number; readonly y: number }): void {
  const at = () => document.elementFromPoint(x, y)?.closest<HTMLElement>('.monaco-list-row') ?? undefined;
  const nameOf = (row: Element) => (row.getAttribute('aria-label') ?? '').split(',')[0]!;
  const seen = { frames: 0, flickers: 0, removed: 0, readded: 0 };
  const gone = new Set<string>();
  const rowsOf = (nodes: NodeList) => [...nodes].filter((node): node is Element => node instanceof Element && node.classList.contains('monaco-list-row'));
  const observer = new MutationObserver((records) => {
    for (const { addedNodes, removedNodes } of records) {
      for (const row of rowsOf(removedNodes)) {
        seen.removed += 1;
        gone.add(nameOf(row));
      }
      for (const row of rowsOf(addedNodes)) if (gone.delete(nameOf(row))) seen.readded += 1;
    }
  });
  let last = at();
  let lastName = last && nameOf(last);
  observer.observe(last!.parentElement!, { childList: true });
  let looking = true;
  const look = () => {
    if (!looking) return;
    const row = at();
    const button = document.elementFromPoint(x, y)?.closest('.action-label');
    seen.frames += 1;
    if (!row || !button || (nameOf(row) === lastName && row !== last)) seen.flickers += 1;
    last = row;
    lastName = row && nameOf(row);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  Object.assign(window, {
    endLooking: () => {
      looking = false;
      observer.disconnect();
      return seen;
    },
  });
}

/** From now on the name of the row that each press of the mouse meets is kept, as the page has it at that moment. */
export function noteClicks(): void {
  const clicked: string[] = [];
  Object.assign(window, { clicked });
  document.addEventListener('mousedown', ({ target }) => clicked.push((target as Element).closest('.monaco-list-row')?.getAttribute('aria-label') ?? ''), { capture: true });
}
