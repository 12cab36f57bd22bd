import * as l10n from '@vscode/l10n';
import { html } from 'lit';
import { customElement, property, query } from 'lit/decorators.js';
import { PageElement, emit } from '../../element.js';
import type { StepSource } from '../stepSource.js';
import './list.css';
import { ROW_HEIGHT, RowPool } from './rowPool.js';

/** Rows on either side of those in sight. Each is laid out like them whenever the list jumps. */
const OVERSCAN = 4;
/** Browsers lay out no taller element than about 33 million pixels. A longer list is scrolled in proportion. */
const TALLEST = 30_000_000;

/** The steps of the trace: a list box whose rows exist only where the reader is. What is selected is what is shown. */
@customElement('rl-step-list')
export class StepList extends PageElement {
  @property({ attribute: false }) source!: StepSource;
  @property({ attribute: false }) selected?: number;
  @query('.step-list') private readonly scroller!: HTMLElement;
  @query('.step-rows') private readonly body!: HTMLElement;
  #pool?: RowPool;
  #frame = 0;
  #shown?: number;
  #resize?: ResizeObserver;
  #height = 0;

  override render() {
    return html`<div class="step-list" role="listbox" tabindex="0" aria-label=${l10n.t('Steps')} @scroll=${this.#onScroll} @click=${this.#onClick}><div class="step-rows"></div></div>`;
  }

  protected override firstUpdated(): void {
    this.#pool = new RowPool(this.body);
    this.#resize = new ResizeObserver(() => {
      this.#height = this.scroller.clientHeight;
      this.#paint();
    });
    this.#resize.observe(this.scroller);
    this.#height = this.scroller.clientHeight;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resize?.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  protected override updated(): void {
    const height = `${this.#bodyHeight}px`;
    if (this.body.style.height !== height) this.body.style.height = height;
    if (this.selected !== this.#shown) {
      this.#shown = this.selected;
      if (this.selected !== undefined) this.#bring(this.selected);
    }
    this.#paint();
  }

  focusList(): void {
    this.scroller.focus();
  }

  /** How many rows a page is. */
  get page(): number {
    return Math.max(1, Math.floor(this.#height / ROW_HEIGHT) - 1);
  }

  get #bodyHeight(): number {
    return Math.min(TALLEST, this.source.total * ROW_HEIGHT);
  }

  /** How far rows move for each pixel that the bar moves: 1, unless the list is taller than a browser can lay out. */
  get #ratio(): number {
    const room = this.#bodyHeight - this.#height;
    return room <= 0 ? 1 : (this.source.total * ROW_HEIGHT - this.#height) / room;
  }

  /** Scrolls as little as is needed; a step that is far away comes to the middle. */
  #bring(index: number): void {
    const top = index * ROW_HEIGHT;
    const at = this.scroller.scrollTop * this.#ratio;
    const margin = Math.min(2 * ROW_HEIGHT, this.#height / 4);
    if (top >= at + margin && top + ROW_HEIGHT + margin <= at + this.#height) return;
    const near = top > at - 4 * ROW_HEIGHT && top < at + this.#height + 4 * ROW_HEIGHT;
    const target = near ? (top < at + margin ? top - margin : top + ROW_HEIGHT + margin - this.#height) : top - (this.#height - ROW_HEIGHT) / 2;
    this.scroller.scrollTop = target / this.#ratio;
  }

  readonly #onScroll = () => {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#paint());
  };

  #paint(): void {
    if (!this.#pool || !this.hasUpdated) return;
    const { total } = this.source;
    const at = this.scroller.scrollTop;
    const offset = at * this.#ratio;
    const first = Math.max(0, Math.floor(offset / ROW_HEIGHT) - OVERSCAN);
    const last = Math.min(total - 1, Math.ceil((offset + this.#height) / ROW_HEIGHT) + OVERSCAN);
    const active = this.#pool.show(first, last, total, (index) => Math.round(at + index * ROW_HEIGHT - offset), (index) => this.source.step(index), this.selected);
    if (active === undefined) this.scroller.removeAttribute('aria-activedescendant');
    else if (this.scroller.getAttribute('aria-activedescendant') !== active) this.scroller.setAttribute('aria-activedescendant', active);
    if (total > 0) this.source.want(first, last);
  }

  #onClick(event: Event): void {
    const index = (event.target as Element).closest<HTMLElement>('[data-index]')?.dataset['index'];
    if (index !== undefined) emit(this, 'go', Number(index));
  }
}
