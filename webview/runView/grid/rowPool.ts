import type { EpisodeRow } from '../../../src/protocol/runView.js';
import type { Column } from './columns.js';

/** Height of a row, px: all the same, so that a position is a multiplication. */
export const ROW_HEIGHT = 22;

interface Row {
  readonly element: HTMLElement;
  readonly cells: readonly { readonly cell: HTMLElement; readonly glyph?: HTMLElement; readonly text: Text }[];
  index: number;
  record?: EpisodeRow;
}

interface Marks {
  /** Episode in the pane. */
  readonly selected?: number;
  /** Episodes that were chosen to do something with. */
  readonly marked: ReadonlySet<number>;
  /** Position of the cursor. */
  readonly cursor?: number;
}

/** As many row elements as fit on the screen, given to other rows as the table scrolls; only what differs is written. */
export class RowPool {
  #rows: Row[] = [];
  readonly #body: HTMLElement;
  readonly #columns: readonly Column[];

  constructor(body: HTMLElement, columns: readonly Column[]) {
    this.#body = body;
    this.#columns = columns;
    body.replaceChildren();
  }

  /** Shows the rows at these positions. Returns the id of the row with the cursor, if it is among them. */
  show(positions: readonly number[], record: (index: number) => EpisodeRow | undefined, { selected, marked, cursor }: Marks): string | undefined {
    while (this.#rows.length < positions.length) this.#rows.push(this.#create(this.#rows.length));
    for (const row of this.#rows.splice(positions.length)) row.element.remove();
    let active: string | undefined;
    for (const index of positions) {
      const row = this.#rows[index % this.#rows.length]!;
      this.#bind(row, index, record(index));
      const episode = row.record?.episode;
      const isMarked = episode !== undefined && marked.has(episode);
      const isSelected = isMarked || (episode !== undefined && episode === selected) ? 'true' : 'false';
      row.element.classList.toggle('marked', isMarked);
      if (row.element.ariaSelected !== isSelected) row.element.ariaSelected = isSelected;
      row.element.classList.toggle('cursor', index === cursor);
      if (index === cursor) active = row.element.id;
    }
    return active;
  }

  #create(number: number): Row {
    const element = document.createElement('div');
    element.role = 'row';
    element.className = 'row';
    element.id = `episode-row-${number}`;
    const cells = this.#columns.map((column) => {
      const cell = document.createElement('div');
      cell.role = 'gridcell';
      cell.className = `cell cell-${column.key}${column.numeric ? ' numeric' : ''}`;
      const text = document.createTextNode('');
      const glyph = column.icon && document.createElement('span');
      if (glyph) glyph.ariaHidden = 'true';
      cell.append(...(glyph ? [glyph] : []), text);
      return { cell, glyph, text };
    });
    element.append(...cells.map(({ cell }) => cell));
    this.#body.append(element);
    return { element, cells, index: -1 };
  }

  #bind(row: Row, index: number, record: EpisodeRow | undefined): void {
    if (row.index !== index) {
      row.index = index;
      row.element.dataset['index'] = String(index);
      row.element.ariaRowIndex = String(index + 2);
      row.element.style.transform = `translateY(${index * ROW_HEIGHT}px)`;
    } else if (row.record === record) return;
    row.record = record;
    row.element.classList.toggle('loading', record === undefined);
    // A row that is loading is hidden and keeps what it said: emptied, it would be laid out twice.
    if (!record) return;
    this.#columns.forEach((column, at) => {
      const { cell, glyph, text } = row.cells[at]!;
      const value = column.text(record);
      if (text.data !== value) text.data = value;
      if (column.key === 'cause' && cell.title !== value) cell.title = value;
      if (!glyph) return;
      const { icon, tone } = column.icon!(record);
      const classes = `codicon codicon-${icon} tone-${tone}`;
      if (glyph.className !== classes) glyph.className = classes;
    });
  }
}
