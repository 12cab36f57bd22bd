import * as l10n from '@vscode/l10n';
import { type PropertyValues, html, nothing, svg } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { Histogram } from '../../../src/protocol/runView.js';
import { PageElement, emit } from '../../element.js';
import * as format from '../../format.js';
import { hasTerms } from '../filterTerms.js';

/** A bound as it stands in a filter: short, and read back to what was meant. */
function bound(value: number): string {
  return String(Number(value.toPrecision(12)));
}

/** How many rewards fell where. A bar is a filter. */
@customElement('rl-histogram')
export class HistogramChart extends PageElement {
  @property({ attribute: false }) histogram: Histogram | null = null;
  @property({ attribute: false }) mean: number | null = null;
  @property({ attribute: false }) filter = '';
  /** Why there is nothing to see. */
  @property({ attribute: false }) empty = '';
  /** Bar under the pointer or with the focus. */
  @state() private pointed?: number;
  /** Bar that the Tab key reaches. */
  @state() private current = 0;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('histogram')) this.current = Math.min(this.current, Math.max(0, this.#counts.length - 1));
  }

  get #counts(): readonly number[] {
    return this.histogram?.counts ?? [];
  }

  #edges(index: number): [number, number] {
    const { low, high, counts } = this.histogram!;
    const width = (high - low) / counts.length;
    return [low + index * width, index === counts.length - 1 ? high : low + (index + 1) * width];
  }

  #terms(index: number): string[] {
    const [low, high] = this.#edges(index);
    return [`reward>=${bound(low)}`, `${index === this.#counts.length - 1 ? 'reward<=' : 'reward<'}${bound(high)}`];
  }

  #describe(index: number): string {
    const [low, high] = this.#edges(index).map((value) => format.edge(value));
    const count = this.#counts[index]!;
    return count === 1 ? l10n.t('{0} to {1}: 1 episode', low!, high!) : l10n.t('{0} to {1}: {2} episodes', low!, high!, format.integer(count));
  }

  /** The chart in a sentence. */
  #summary(): string {
    const counts = this.#counts;
    const total = counts.reduce((sum, count) => sum + count, 0);
    return l10n.t('Histogram of {0} rewards. Most are in {1}.', format.integer(total), this.#describe(counts.indexOf(Math.max(...counts))));
  }

  override render() {
    const readout = this.pointed !== undefined && this.pointed < this.#counts.length ? this.#describe(this.pointed) : '';
    return html`
      <div class="chart-head"><h2>${l10n.t('Rewards')}</h2><span class="readout figures">${readout}</span></div>
      ${this.histogram ? this.#plot(this.histogram) : html`<div class="chart-empty">${this.empty}</div>`}`;
  }

  #plot({ low, high, counts }: Histogram) {
    const tallest = Math.max(1, ...counts);
    const step = 100 / counts.length;
    const mean = this.mean === null || high <= low ? undefined : (100 * (this.mean - low)) / (high - low);
    return html`
      <svg
        class="histogram"
        role="group"
        aria-label=${this.#summary()}
        @pointerover=${this.#onPoint}
        @pointerleave=${() => (this.pointed = undefined)}
        @focusin=${this.#onPoint}
        @focusout=${() => (this.pointed = undefined)}
        @click=${this.#onClick}
        @keydown=${this.#onKey}
      >
        ${counts.map((count, index) => {
          const height = count === 0 ? 0 : Math.max(1.5, (100 * count) / tallest);
          const gap = counts.length > 60 ? 0 : Math.min(0.4, step / 8);
          return svg`
            <rect class="bar" x="${index * step + gap}%" y="${100 - height}%" width="${step - 2 * gap}%" height="${height}%"></rect>
            <rect
              class="bar-target" role="button" data-index=${index} tabindex=${index === this.current ? 0 : -1}
              x="${index * step}%" y="0" width="${step}%" height="100%"
              aria-label=${this.#describe(index)} aria-pressed=${hasTerms(this.filter, this.#terms(index)) ? 'true' : 'false'}
            ></rect>`;
        })}
        ${mean === undefined ? nothing : svg`<line class="mean" x1="${mean}%" x2="${mean}%" y1="0" y2="100%"></line>`}
      </svg>
      <div class="chart-axis figures"><span>${format.edge(low)}</span><span>${l10n.t('most: {0}', format.integer(tallest))}</span><span>${format.edge(high)}</span></div>`;
  }

  #indexOf(event: Event): number | undefined {
    const index = (event.target as Element).getAttribute('data-index');
    return index === null ? undefined : Number(index);
  }

  #onPoint(event: Event): void {
    this.pointed = this.#indexOf(event);
  }

  #onClick(event: Event): void {
    const index = this.#indexOf(event);
    if (index === undefined) return;
    this.current = index;
    emit(this, 'filter-toggle', this.#terms(index));
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.#onClick(event);
      return;
    }
    const last = this.#counts.length - 1;
    const next = { ArrowLeft: this.current - 1, ArrowRight: this.current + 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.current = Math.min(last, Math.max(0, next));
    void this.updateComplete.then(() => this.querySelector<SVGElement>(`[data-index="${this.current}"]`)?.focus());
  }
}
