import * as l10n from '@vscode/l10n';
import { html, nothing } from 'lit';
import { customElement, property, query } from 'lit/decorators.js';
import type { ComparedRow } from '../../src/protocol/traceDiff.js';
import type { StepSummary } from '../../src/protocol/traceView.js';
import { PageElement, emit, icon } from '../element.js';
import * as format from '../format.js';
import type { RangeWindow } from '../rangeWindow.js';
import { oneLine } from '../text.js';
import { kindWord } from '../traceView/words.js';
import { rowMark, rowWord } from './words.js';

const ROW_HEIGHT = 22;

/** Both traces as one list: a row is a step of each, or a step that stands alone. What is selected is what is shown. */
@customElement('rl-diff-rows')
export class DiffRows extends PageElement {
  @property({ attribute: false }) window!: RangeWindow<ComparedRow>;
  @property({ attribute: false }) selected = 0;
  /** Row that differs first. */
  @property({ attribute: false }) first: number | null = null;
  /** Increases with each answer, so that rows that came are drawn. */
  @property({ attribute: false }) revision = 0;
  @query('.diff-rows') private readonly scroller!: HTMLElement;
  #shown?: number;
  readonly #resized = new ResizeObserver(() => this.#look());

  override render() {
    const { start, rows } = this.window.range;
    return html`<div
      class="diff-rows"
      role="listbox"
      tabindex="0"
      aria-label=${l10n.t('Steps of both traces')}
      aria-activedescendant=${this.window.at(this.selected) ? `diff-row-${this.selected}` : nothing}
      @scroll=${() => this.#look()}
      @click=${this.#onClick}
    >
      <div class="diff-body" role="presentation"><div class="diff-window" role="presentation">${rows.map((row, index) => this.#row(row, start + index))}</div></div>
    </div>`;
  }

  protected override firstUpdated(): void {
    this.#resized.observe(this.scroller);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resized.disconnect();
  }

  protected override updated(): void {
    const { total, start } = this.window.range;
    this.querySelector<HTMLElement>('.diff-body')!.style.height = `${total * ROW_HEIGHT}px`;
    this.querySelector<HTMLElement>('.diff-window')!.style.transform = `translateY(${start * ROW_HEIGHT}px)`;
    if (this.selected !== this.#shown && total > 0) {
      this.#shown = this.selected;
      this.#bring(this.selected);
    }
    this.#look();
  }

  focusList(): void {
    this.scroller.focus();
  }

  get page(): number {
    return Math.max(1, Math.floor(this.scroller.clientHeight / ROW_HEIGHT) - 1);
  }

  #look(): void {
    const first = Math.floor(this.scroller.scrollTop / ROW_HEIGHT);
    this.window.want(first, first + Math.ceil(this.scroller.clientHeight / ROW_HEIGHT));
  }

  /** Scrolls as little as is needed; a row that is far away comes to the middle. */
  #bring(index: number): void {
    const { scrollTop, clientHeight } = this.scroller;
    const top = index * ROW_HEIGHT;
    const margin = Math.min(ROW_HEIGHT, clientHeight / 4);
    if (top >= scrollTop + margin && top + ROW_HEIGHT + margin <= scrollTop + clientHeight) return;
    const near = top > scrollTop - 4 * ROW_HEIGHT && top < scrollTop + clientHeight + 4 * ROW_HEIGHT;
    this.scroller.scrollTop = near ? (top < scrollTop + margin ? top - margin : top + ROW_HEIGHT + margin - clientHeight) : top - (clientHeight - ROW_HEIGHT) / 2;
  }

  #row(row: ComparedRow, index: number) {
    const { a, b } = row.summaries;
    const mark = rowMark(row);
    const word = rowWord(row);
    return html`<div id="diff-row-${index}" class="diff-row ${mark.kind}" role="option" aria-selected=${index === this.selected ? 'true' : 'false'} aria-posinset=${index + 1} aria-setsize=${this.window.range.total} data-index=${index}>
      ${this.#cell(a)}
      <span class="diff-mark" title=${word}>${icon(mark.icon)}<span class="hidden">${word === '' ? l10n.t('the same') : l10n.t('differs: {0}', word)}${index === this.first ? `, ${l10n.t('first difference')}` : ''}</span></span>
      ${this.#cell(b)}
    </div>`;
  }

  #cell(step: StepSummary | null) {
    if (!step) return html`<span class="diff-cell none"><span class="hidden">${l10n.t('no step')}</span></span>`;
    const { label, kind, title, error, reward } = step;
    return html`<span class="diff-cell" data-kind=${kind}>
      <span class="row-label figures">${oneLine(label, 12)}</span> ${icon(error === undefined ? kindWord(kind).icon : 'error', `row-icon ${error === undefined ? '' : 'tone-error'}`)}
      <span class="row-title">${oneLine(title, 200)}</span>
      ${error === undefined ? nothing : html`<span class="row-error">${oneLine(error, 24)}</span>`}
      ${reward === undefined || (reward === null && kind !== 'verifier') ? nothing : html`<span class="row-reward figures">${reward === null ? format.NONE : format.edge(reward)}</span>`}
    </span>`;
  }

  #onClick(event: Event): void {
    const index = (event.target as Element).closest<HTMLElement>('[data-index]')?.dataset['index'];
    if (index !== undefined) emit(this, 'go', Number(index));
  }
}
