import * as l10n from '@vscode/l10n';
import { type PropertyValues, html, nothing, svg } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import type { PairKind, PairSide, PairSortKey, Pairs, PairsQuery, RunComparison, SeedPair } from '../../src/protocol/compareView.js';
import { PageElement, emit, icon } from '../element.js';
import * as format from '../format.js';
import { RangeWindow } from '../rangeWindow.js';
import { unpairedReason } from './words.js';

const ROW_HEIGHT = 22;

export interface PairOrder {
  readonly kind?: PairKind;
  readonly sort: PairSortKey;
  readonly descending: boolean;
}

/** The seeds with what both runs earned. Enter opens the two episodes. */
@customElement('rl-pair-table')
export class PairTable extends PageElement {
  @property({ attribute: false }) comparison!: RunComparison;
  @property({ attribute: false }) order!: PairOrder;
  @property({ attribute: false }) load!: (query: PairsQuery) => Promise<Pairs>;
  @state() private cursor = 0;
  @query('.pair-grid') private readonly scroller!: HTMLElement;
  #toShow?: number;
  readonly #window = new RangeWindow<SeedPair>(this, async (start, count) => {
    const { total, pairs } = await this.load({ ...this.order, start, count });
    return { total, start, rows: pairs };
  });

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('order') && this.hasUpdated) {
      this.cursor = 0;
      this.scroller.scrollTop = 0;
    }
    if (changed.has('comparison') || changed.has('order')) this.#window.invalidate();
    this.cursor = Math.max(0, Math.min(this.cursor, this.#window.range.total - 1));
  }

  #look(): void {
    const first = Math.floor(this.scroller.scrollTop / ROW_HEIGHT);
    this.#window.want(first, first + Math.ceil(this.scroller.clientHeight / ROW_HEIGHT));
  }

  /** The same once the rows in the order that was asked for are there. */
  showWhenThere(index: number): void {
    this.#toShow = index;
    this.requestUpdate();
  }

  /** Brings a place into sight, and the cursor there. */
  show(index: number): void {
    this.cursor = Math.max(0, Math.min(index, this.#window.range.total - 1));
    const top = this.cursor * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.scroller;
    const room = clientHeight - ROW_HEIGHT - 24;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top > scrollTop + room) this.scroller.scrollTop = top - room;
  }

  override render() {
    const { range: { total, start, rows }, problem } = this.#window;
    const inSight = this.#window.at(this.cursor) !== undefined;
    return html`
      ${problem === undefined ? nothing : html`<div class="notice" role="alert">${icon('error', 'tone-error')} <span>${l10n.t('Failed to read the seeds: {0}', problem)}</span></div>`}
      <div
        class="pair-grid"
        role="grid"
        tabindex="0"
        aria-label=${l10n.t('Seeds in both runs')}
        aria-rowcount=${total + 1}
        aria-activedescendant=${inSight ? `pair-${this.cursor}` : nothing}
        @keydown=${this.#onKey}
        @scroll=${() => this.#look()}
        @click=${this.#onClick}
        @dblclick=${() => this.#open()}
      >
        <div class="pair-row pair-head sortable-head" role="row" aria-rowindex="1">
          ${this.#heading('seed', l10n.t('seed'))} ${this.#heading('a', 'a')} ${this.#heading('b', 'b')} ${this.#heading('delta', l10n.t('b − a'))}
          <div role="columnheader"><span class="hidden">${l10n.t('difference as a bar')}</span></div>
        </div>
        <div class="pair-body" role="rowgroup"><div class="pair-window" role="presentation">${rows.map((pair, index) => this.#row(pair, start + index))}</div></div>
        ${total === 0 && this.#window.loaded ? html`<div class="pair-empty" role="row"><span role="gridcell">${l10n.t('No seed to show.')}</span></div>` : nothing}
      </div>`;
  }

  protected override updated(): void {
    const { total, start } = this.#window.range;
    this.querySelector<HTMLElement>('.pair-body')!.style.height = `${total * ROW_HEIGHT}px`;
    this.querySelector<HTMLElement>('.pair-window')!.style.transform = `translateY(${start * ROW_HEIGHT}px)`;
    this.#look();
    if (this.#toShow === undefined || this.#window.busy) return;
    const index = this.#toShow;
    this.#toShow = undefined;
    this.show(index);
  }

  #heading(key: PairSortKey, title: string) {
    const { sort, descending } = this.order;
    const sorted = key === sort;
    return html`<div class="numeric" role="columnheader" aria-sort=${sorted ? (descending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" @click=${() => emit(this, 'pair-sort', { sort: key, descending: sorted && !descending })}>${title}${sorted ? icon(descending ? 'arrow-down' : 'arrow-up') : nothing}</button>
    </div>`;
  }

  #row(pair: SeedPair, index: number) {
    const { seed, a, b, delta } = pair;
    return html`<div id="pair-${index}" class="pair-row ${index === this.cursor ? 'cursor' : ''}" role="row" aria-rowindex=${index + 2} aria-selected=${index === this.cursor ? 'true' : 'false'} data-index=${index}>
      <div class="numeric figures" role="gridcell">${seed}</div>
      ${this.#side(a)} ${this.#side(b)}
      <div class="numeric figures" role="gridcell">${delta === null ? format.NONE : format.signed(delta, 4)}</div>
      <div class="pair-bar" role="gridcell">${delta === null ? html`<span class="tone-muted">${unpairedReason(pair)}</span>` : this.#bar(delta)}</div>
    </div>`;
  }

  #side(side: PairSide | null) {
    const samples = side && side.scored + side.unscored > 1 ? l10n.t('{0} of {1} samples have a reward', side.scored, side.scored + side.unscored) : '';
    return html`<div class="numeric figures" role="gridcell" title=${samples}>${format.reward(side?.mean ?? null)}</div>`;
  }

  /** To the left of the middle what is lost, to the right what is gained; the longest is the largest difference of all. */
  #bar(delta: number) {
    const { deltas } = this.comparison;
    const most = Math.max(Math.abs(deltas[0]?.low ?? 0), Math.abs(deltas.at(-1)?.high ?? 0)) || 1;
    const width = (50 * Math.abs(delta)) / most;
    return html`<svg aria-hidden="true" width="100%" height="10">${svg`
      <line class="zero" x1="50%" x2="50%" y1="0" y2="10"></line>
      <rect class=${delta < 0 ? 'worse' : 'better'} x="${delta < 0 ? 50 - width : 50}%" width="${width}%" y="1" height="8"></rect>`}</svg>`;
  }

  #open(): void {
    const pair = this.#window.at(this.cursor);
    if (pair) emit(this, 'pair-open', { a: pair.a?.episode ?? null, b: pair.b?.episode ?? null });
  }

  #onClick(event: Event): void {
    const index = (event.target as Element).closest<HTMLElement>('[data-index]')?.dataset['index'];
    if (index !== undefined) this.cursor = Number(index);
  }

  readonly #onKey = (event: KeyboardEvent) => {
    if (event.target !== this.scroller || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_HEIGHT) - 2);
    const moves: Readonly<Record<string, number>> = { ArrowDown: this.cursor + 1, ArrowUp: this.cursor - 1, PageDown: this.cursor + page, PageUp: this.cursor - page, Home: 0, End: this.#window.range.total - 1 };
    const to = moves[event.key];
    if (to !== undefined) this.show(to);
    else if (event.key === 'Enter') this.#open();
    else return;
    event.preventDefault();
  };
}
