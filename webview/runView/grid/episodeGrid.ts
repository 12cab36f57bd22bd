import * as l10n from '@vscode/l10n';
import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from '@tanstack/virtual-core';
import { type PropertyValues, html, nothing } from 'lit';
import { customElement, property, query } from 'lit/decorators.js';
import { MOST_SELECTED, type SortKey } from '../../../src/protocol/runView.js';
import { PageElement, emit, icon } from '../../element.js';
import { type Column, columnsFor } from './columns.js';
import { ROW_HEIGHT, RowPool } from './rowPool.js';
import type { RowSource } from './rowSource.js';
import '../../sortable.css';
import './grid.css';

const HEAD_HEIGHT = 24;

/** The table of episodes: a grid with one cursor, whose rows exist only where the reader is. */
@customElement('rl-episode-grid')
export class EpisodeGrid extends PageElement {
  @property({ attribute: false }) source!: RowSource;
  @property({ attribute: false }) samples = 1;
  @property({ attribute: false }) decimals = 4;
  @property({ attribute: false }) sort: SortKey = 'finish';
  @property({ attribute: false }) descending = false;
  /** Episode in the pane. */
  @property({ attribute: false }) selected?: number;
  /** Episodes that were chosen to do something with. */
  @property({ attribute: false }) marked: ReadonlySet<number> = new Set();
  /** Where to scroll to, px, as soon as there are rows. */
  @property({ attribute: false }) top = 0;
  /** What to say where there are no rows. */
  @property({ attribute: false }) empty = '';
  @query('.grid') private readonly scroller!: HTMLElement;
  @query('.grid-body') private readonly body!: HTMLElement;
  #columns: readonly Column[] = [];
  #pool?: RowPool;
  #virtualizer?: Virtualizer<HTMLElement, HTMLElement>;
  #unmount?: () => void;
  /** The cursor is an episode; where it is changes as others arrive. */
  #cursor?: { episode?: number; index: number };
  /** How many rows may have come in before the cursor since its place was last seen. */
  #drift = 0;
  /** How many rows may have come in since the rows on screen were fetched. */
  #grown = 0;
  #headCursor = 0;
  /** Where a choice of several began. */
  #anchor?: number;
  #restoreTop = 0;
  #reportedTop = 0;
  #total = 0;
  #frame?: number;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('samples') || changed.has('decimals') || this.#columns.length === 0) {
      this.#columns = columnsFor(this.samples, this.decimals);
      this.#pool = undefined;
    }
    if (changed.has('top')) this.#restoreTop = this.top;
  }

  override render() {
    return html`
      <div
        class="grid ${this.samples > 1 ? 'with-sample' : ''}"
        role="grid"
        tabindex="0"
        aria-label=${l10n.t('Episodes')}
        aria-multiselectable="true"
        aria-rowcount=${this.source.total + 1}
        aria-colcount=${this.#columns.length}
        aria-busy=${this.source.loaded ? 'false' : 'true'}
        @keydown=${this.#onKey}
        @focus=${this.#schedule}
      >
        <div class="grid-head sortable-head" role="rowgroup">
          <div class="row" role="row" aria-rowindex="1" @keydown=${this.#onHeadKey}>${this.#columns.map((column, index) => this.#heading(column, index))}</div>
        </div>
        <div class="grid-body" role="rowgroup" @click=${this.#onClick}></div>
      </div>
      ${this.source.loaded && this.source.total === 0 ? html`<p class="grid-empty">${this.empty}</p>` : nothing}`;
  }

  #heading({ key, title, description, numeric }: Column, index: number) {
    const sorted = key === this.sort;
    const next = !sorted ? l10n.t('sort from low to high') : this.descending ? l10n.t('back to finish order') : l10n.t('sort from high to low');
    return html`<div class="cell cell-${key} ${numeric ? 'numeric' : ''}" role="columnheader" aria-sort=${sorted ? (this.descending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" data-column=${index} tabindex=${index === this.#headCursor ? 0 : -1} title=${`${description}: ${next}`} @click=${() => this.#sortBy(key)}>
        ${title}${sorted ? icon(this.descending ? 'arrow-down' : 'arrow-up') : nothing}
      </button>
    </div>`;
  }

  protected override firstUpdated(): void {
    this.#virtualizer = new Virtualizer<HTMLElement, HTMLElement>(this.#options());
    this.#unmount = this.#virtualizer._didMount();
    this.#virtualizer._willUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unmount?.();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
  }

  #options() {
    return {
      count: this.source.total,
      getScrollElement: () => this.scroller,
      estimateSize: () => ROW_HEIGHT,
      overscan: 4,
      scrollMargin: HEAD_HEIGHT,
      scrollPaddingStart: HEAD_HEIGHT,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      onChange: this.#schedule,
    };
  }

  protected override updated(): void {
    this.#virtualizer!.setOptions(this.#options());
    this.#virtualizer!._willUpdate();
    if (this.#total !== this.source.total) {
      this.#total = this.source.total;
      this.body.style.height = `${this.#total * ROW_HEIGHT}px`;
    }
    if (this.#restoreTop > 0 && this.source.loaded) {
      this.scroller.scrollTop = this.#restoreTop;
      this.#restoreTop = 0;
    }
    this.#schedule();
  }

  /** Rows that arrive and rows that scroll in are shown once for each picture, however many of them come before it. */
  readonly #schedule = () => {
    this.#frame ??= requestAnimationFrame(() => this.#paint());
  };

  #visible(): { first: number; last: number } {
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW_HEIGHT));
    return { first, last: first + Math.ceil(this.scroller.clientHeight / ROW_HEIGHT) };
  }

  #paint(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    if (!this.#virtualizer) return;
    this.#pool ??= new RowPool(this.body, this.#columns);
    this.#followCursor();
    const positions = this.#virtualizer.getVirtualItems().map(({ index }) => index);
    const active = this.#pool.show(positions, (index) => this.source.row(index), { selected: this.selected, marked: this.marked, cursor: this.#cursor?.index });
    if (active === undefined) this.scroller.removeAttribute('aria-activedescendant');
    else if (this.scroller.getAttribute('aria-activedescendant') !== active) this.scroller.setAttribute('aria-activedescendant', active);
    if (this.source.loaded && positions.length > 0) this.source.want(positions[0]!, positions.at(-1)!);
    // What the virtualizer was told, since asking the element would lay out the page in the middle of a frame.
    const top = this.#virtualizer.scrollOffset ?? 0;
    if (top === this.#reportedTop) return;
    this.#reportedTop = top;
    emit(this, 'grid-scroll', this.#reportedTop);
  }

  /** Finds the cursor's place anew, or its episode, if it was put on a row that had yet to come. */
  #followCursor(): void {
    const cursor = this.#cursor;
    if (!cursor) return;
    if (cursor.episode === undefined) {
      cursor.episode = this.source.row(cursor.index)?.episode;
      if (cursor.episode !== undefined) emit(this, 'grid-cursor', cursor.episode);
      return;
    }
    const index = this.source.indexOf(cursor.episode);
    if (index === undefined) return;
    cursor.index = index;
    this.#drift = 0;
  }

  /** Shows the source's newest rows without moving what the reader looks at. `grown` is how many rows there may be more. */
  async renew(grown: number): Promise<void> {
    const { first, last } = this.#visible();
    const cursor = this.#cursor?.episode === undefined ? undefined : this.#cursor.index;
    const anchorAt = cursor !== undefined && cursor >= first && cursor < last ? cursor : first;
    // At the very top, with nothing pointed at, the newest may come in from above.
    const anchor = cursor === undefined && this.scroller.scrollTop === 0 ? undefined : this.source.row(anchorAt);
    this.#grown += grown;
    const more = this.#grown;
    if (!(await this.source.renew(first, last + more))) return;
    this.#grown -= more;
    this.#drift += more;
    const now = anchor && this.source.indexOf(anchor.episode);
    if (now === undefined || now === anchorAt) return;
    await this.updateComplete;
    this.scroller.scrollTop += (now - anchorAt) * ROW_HEIGHT;
    this.#paint();
  }

  /** The first rows of another order. */
  async reorder(order: RowSource['order']): Promise<void> {
    await this.source.reorder(order, Math.ceil(this.scroller.clientHeight / ROW_HEIGHT));
    this.#cursor = undefined;
    this.#anchor = undefined;
    this.#restoreTop = 0;
    this.scroller.scrollTop = 0;
    this.#paint();
  }

  focusCursor(): void {
    this.scroller.focus();
  }

  #sortBy(key: SortKey): void {
    if (key !== this.sort) emit(this, 'grid-sort', { sort: key, descending: false });
    else emit(this, 'grid-sort', this.descending ? { sort: 'finish', descending: false } : { sort: key, descending: true });
  }

  #moveTo(index: number): void {
    if (this.source.total === 0) return;
    const target = Math.min(this.source.total - 1, Math.max(0, index));
    this.#cursor = { index: target, episode: this.source.row(target)?.episode };
    this.#virtualizer!.scrollToIndex(target);
    this.#paint();
    if (this.#cursor.episode !== undefined) emit(this, 'grid-cursor', this.#cursor.episode);
  }

  #onClick(event: MouseEvent): void {
    const index = (event.target as Element).closest<HTMLElement>('[data-index]')?.dataset['index'];
    if (index === undefined) return;
    const from = this.#cursor?.index;
    this.#moveTo(Number(index));
    if (event.shiftKey) return void this.#markTo(from ?? Number(index));
    if (event.ctrlKey || event.metaKey) return this.#toggleMark();
    this.#anchor = undefined;
    if (this.marked.size > 0) emit(this, 'grid-mark', new Set<number>());
    const episode = this.#cursor?.episode;
    if (episode !== undefined) emit(this, 'grid-open', { episode, focus: false });
  }

  /** The cursor's episode is chosen, or not any more. */
  #toggleMark(): void {
    const episode = this.#cursor?.episode;
    if (episode === undefined) return;
    const marked = new Set(this.marked);
    if (!marked.delete(episode)) marked.add(episode);
    this.#anchor = this.#cursor?.index;
    emit(this, 'grid-mark', marked);
  }

  /** All from where the choice began to the cursor; `from` is where it begins, if it has not. */
  async #markTo(from: number): Promise<void> {
    this.#anchor ??= from;
    const [first, last] = [this.#anchor, this.#cursor?.index ?? from].sort((one, other) => one - other) as [number, number];
    emit(this, 'grid-mark', new Set(await this.source.episodes(first, Math.min(last, first + MOST_SELECTED - 1))));
  }

  readonly #onKey = (event: KeyboardEvent) => {
    if (event.target !== this.scroller || event.altKey) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key !== ' ') return;
      event.preventDefault();
      return this.#toggleMark();
    }
    const { first, last } = this.#visible();
    const page = Math.max(1, last - first - 2);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const step = steps[event.key];
    if (step !== undefined) {
      const from = this.#cursor?.index ?? first;
      void this.#moveBy(step, first).then(() => (event.shiftKey ? this.#markTo(from) : undefined));
      if (!event.shiftKey) this.#anchor = undefined;
    }
    else if (event.key === 'Home') this.#moveTo(0);
    else if (event.key === 'End') this.#moveTo(this.source.total - 1);
    else if (event.key === 'Escape') emit(this, this.marked.size > 0 ? 'grid-mark' : 'pane-close', this.marked.size > 0 ? new Set<number>() : undefined);
    else if (event.key === 'Enter' || event.key === ' ') {
      const episode = this.#cursor?.episode;
      if (episode !== undefined) emit(this, 'grid-open', { episode, focus: event.key === 'Enter' });
    } else return;
    event.preventDefault();
  };

  /** Moves the cursor; if it is nowhere, to the first row in sight. */
  async #moveBy(step: number, first: number): Promise<void> {
    const cursor = this.#cursor;
    if (!cursor) {
      this.#moveTo(first);
      return;
    }
    if (this.#drift > 0 && cursor.episode !== undefined && this.source.indexOf(cursor.episode) === undefined) {
      cursor.index = (await this.source.locate(cursor.episode, cursor.index, cursor.index + this.#drift)) ?? cursor.index;
      this.#drift = 0;
    }
    this.#moveTo(cursor.index + step);
  }

  readonly #onHeadKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') {
      event.preventDefault();
      event.stopPropagation();
      this.scroller.focus();
      return;
    }
    const last = this.#columns.length - 1;
    const next = { ArrowLeft: this.#headCursor - 1, ArrowRight: this.#headCursor + 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.#headCursor = Math.min(last, Math.max(0, next));
    this.requestUpdate();
    void this.updateComplete.then(() => this.querySelector<HTMLElement>(`[data-column="${this.#headCursor}"]`)?.focus());
  };
}
