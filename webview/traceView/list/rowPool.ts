import * as l10n from '@vscode/l10n';
import type { StepSummary } from '../../../src/protocol/traceView.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';
import { kindWord } from '../words.js';

/** Height of a row, px: all the same, so that a position is a multiplication. */
export const ROW_HEIGHT = 22;
const INDENT = 12;
const DEEPEST = 6;

/** What a row says, in this order, after an icon for its kind. The word for a reward, whose place stands for it, is read aloud only. */
const CELLS = ['label', 'title', 'error', 'rewardWord', 'reward', 'time'] as const;
type Cell = (typeof CELLS)[number];

interface Row {
  readonly element: HTMLElement;
  readonly glyph: HTMLElement;
  readonly texts: Readonly<Record<Cell, Text>>;
  index: number;
  step?: StepSummary;
}

/** As many rows as fit on the screen, given to other steps as the list scrolls; only what differs is written. */
export class RowPool {
  #rows: Row[] = [];
  #created = 0;
  readonly #body: HTMLElement;

  constructor(body: HTMLElement) {
    this.#body = body;
  }

  /** Shows the steps from `first` to `last`, at `top` px from the body's own top. Returns the id of the selected row, if it is among them. */
  show(first: number, last: number, total: number, top: (index: number) => number, step: (index: number) => StepSummary | undefined, selected: number | undefined): string | undefined {
    const count = Math.max(0, last - first + 1);
    while (this.#rows.length < count) this.#rows.push(this.#create());
    for (const row of this.#rows.splice(count)) row.element.remove();
    let active: string | undefined;
    for (let index = first; index <= last; index++) {
      const row = this.#rows[index % count]!;
      this.#bind(row, index, total, step(index));
      const transform = `translateY(${top(index)}px)`;
      if (row.element.style.transform !== transform) row.element.style.transform = transform;
      const isSelected = String(index === selected);
      if (row.element.ariaSelected !== isSelected) row.element.ariaSelected = isSelected;
      if (index === selected) active = row.element.id;
    }
    return active;
  }

  #create(): Row {
    const element = document.createElement('div');
    element.role = 'option';
    element.className = 'step-row';
    element.id = `step-row-${this.#created++}`;
    const glyph = document.createElement('span');
    glyph.role = 'img';
    glyph.className = 'row-icon';
    const cells = CELLS.map((name) => {
      const span = document.createElement('span');
      span.className = name === 'rewardWord' ? 'hidden' : `row-${name}`;
      span.append(document.createTextNode(''));
      return span;
    });
    element.append(...cells);
    cells[0]!.after(glyph);
    this.#body.append(element);
    return { element, glyph, texts: Object.fromEntries(CELLS.map((name, at) => [name, cells[at]!.firstChild])) as Row['texts'], index: -1 };
  }

  #bind(row: Row, index: number, total: number, step: StepSummary | undefined): void {
    const size = String(total);
    if (row.element.ariaSetSize !== size) row.element.ariaSetSize = size;
    if (row.index !== index) {
      row.index = index;
      row.element.dataset['index'] = String(index);
      row.element.ariaPosInSet = String(index + 1);
    } else if (row.step === step) return;
    row.step = step;
    const { element, glyph, texts } = row;
    element.classList.toggle('loading', step === undefined);
    element.classList.toggle('failed', step?.error !== undefined);
    const indent = `${Math.min(DEEPEST, step?.depth ?? 0) * INDENT}px`;
    if (element.style.getPropertyValue('--indent') !== indent) element.style.setProperty('--indent', indent);
    const kind = step?.kind ?? '';
    if (element.dataset['kind'] !== kind) element.dataset['kind'] = kind;
    const shape = step ? `codicon codicon-${step.pending ? 'loading codicon-modifier-spin' : step.error === undefined ? kindWord(step.kind).icon : 'error'} row-icon` : 'row-icon';
    if (glyph.className !== shape) glyph.className = shape;
    const word = step ? (step.pending ? `${kindWord(step.kind).text}, ${l10n.t('going on')}` : kindWord(step.kind).text) : '';
    if (glyph.ariaLabel !== word) glyph.ariaLabel = word;
    const wordless = String(!step);
    if (glyph.ariaHidden !== wordless) glyph.ariaHidden = wordless;
    write(texts.label, step ? oneLine(step.label, 12) : String(index));
    write(texts.title, step ? oneLine(step.title, 200) : '\u2026');
    write(texts.error, step?.error === undefined ? '' : oneLine(step.error, 24));
    // A step without a reward of its own says nothing; where the episode's should be, a dash says that there is none.
    const reward = step?.reward === undefined || (step.reward === null && step.kind !== 'verifier') ? '' : step.reward === null ? format.NONE : format.edge(step.reward);
    write(texts.rewardWord, reward === '' ? '' : l10n.t('reward'));
    write(texts.reward, reward);
    write(texts.time, step?.ms === undefined ? '' : format.duration(step.ms));
  }
}

function write(node: Text, value: string): void {
  if (node.data !== value) node.data = value;
}
