import type { StepSummary } from '../../../src/protocol/traceView.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';
import { kindWord, spokenStep } from '../words.js';

/** Height of a row, px: all the same, so that a position is a multiplication. */
export const ROW_HEIGHT = 22;
const INDENT = 12;
const DEEPEST = 6;

interface Row {
  readonly element: HTMLElement;
  readonly glyph: HTMLElement;
  readonly texts: Readonly<Record<'label' | 'title' | 'reward' | 'time' | 'error', Text>>;
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
    glyph.ariaHidden = 'true';
    const cell = (name: string) => {
      const span = document.createElement('span');
      span.className = `row-${name}`;
      const text = document.createTextNode('');
      span.append(text);
      return { span, text };
    };
    const [label, title, reward, time, error] = ['label', 'title', 'reward', 'time', 'error'].map(cell) as [Cell, Cell, Cell, Cell, Cell];
    element.append(label.span, glyph, title.span, error.span, reward.span, time.span);
    this.#body.append(element);
    return { element, glyph, texts: { label: label.text, title: title.text, reward: reward.text, time: time.text, error: error.text }, index: -1 };
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
    const { element, texts } = row;
    element.classList.toggle('loading', step === undefined);
    element.classList.toggle('failed', step?.error !== undefined);
    element.ariaLabel = step ? spokenStep(step) : null;
    element.style.setProperty('--indent', `${Math.min(DEEPEST, step?.depth ?? 0) * INDENT}px`);
    element.dataset['kind'] = step?.kind ?? '';
    const glyph = step ? `codicon codicon-${step.pending ? 'loading codicon-modifier-spin' : step.error === undefined ? kindWord(step.kind).icon : 'error'} row-icon` : 'row-icon';
    if (row.glyph.className !== glyph) row.glyph.className = glyph;
    write(texts.label, step ? oneLine(step.label, 12) : String(index));
    write(texts.title, step ? oneLine(step.title, 200) : '\u2026');
    write(texts.error, step?.error === undefined ? '' : oneLine(step.error, 24));
    write(texts.reward, step?.reward === undefined ? '' : step.reward === null ? format.NONE : format.edge(step.reward));
    write(texts.time, step?.ms === undefined ? '' : format.duration(step.ms));
  }
}

interface Cell {
  readonly span: HTMLElement;
  readonly text: Text;
}

function write(node: Text, value: string): void {
  if (node.data !== value) node.data = value;
}
