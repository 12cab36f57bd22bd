import * as l10n from '@vscode/l10n';
import { html, nothing, svg } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { RunComparison } from '../../src/protocol/compareView.js';
import { PageElement, emit } from '../element.js';
import * as format from '../format.js';

const HEIGHT = 100;

/** The differences of all seeds in ascending order, with their mean and its interval. A click leads to the place in the table. */
@customElement('rl-delta-chart')
export class DeltaChart extends PageElement {
  @property({ attribute: false }) comparison!: RunComparison;
  /** Stretch under the pointer. */
  @state() private pointed?: number;

  override render() {
    const { pairs, deltas, better, worse } = this.comparison;
    const at = this.pointed === undefined ? undefined : deltas[this.pointed];
    const range = at && (at.low === at.high ? format.signed(at.low) : l10n.t('{0} to {1}', format.signed(at.low), format.signed(at.high)));
    return html`
      <div class="chart-head">
        <h2>${l10n.t('Differences, from the worst to the best')}</h2>
        <span class="readout figures">${at ? l10n.t('{0} of {1}: {2}', format.integer(at.first + 1), format.integer(pairs), range!) : l10n.t('mean, 95 %')}</span>
      </div>
      ${pairs === 0
        ? html`<div class="chart-empty">${l10n.t('No seed has a reward in both runs.')}</div>`
        : html`<svg
            class="deltas"
            viewBox="0 0 ${deltas.length} ${HEIGHT}"
            preserveAspectRatio="none"
            role="img"
            aria-label=${l10n.t('Differences of {0} seeds in ascending order: {1} below 0, {2} above.', format.integer(pairs), format.integer(worse), format.integer(better))}
            @pointermove=${(event: PointerEvent) => (this.pointed = this.#stretch(event))}
            @pointerleave=${() => (this.pointed = undefined)}
            @click=${(event: PointerEvent) => emit(this, 'rank', deltas[this.#stretch(event)]!.first)}
          >
            ${this.#content()}
          </svg>
          <div class="chart-axis figures"><span>${format.signed(deltas[0]!.low)}</span><span>${format.signed(deltas.at(-1)!.high)}</span></div>`}`;
  }

  #stretch(event: PointerEvent): number {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    return Math.min(this.comparison.deltas.length - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * this.comparison.deltas.length)));
  }

  #content() {
    const { deltas, mean, ci95 } = this.comparison;
    const [low, high] = [Math.min(0, deltas[0]!.low), Math.max(0, deltas.at(-1)!.high)];
    const span = high - low || 1;
    const y = (value: number) => Math.round(1e3 * HEIGHT * ((high - value) / span)) / 1e3;
    const area = (value: (at: number) => number) => `M0 ${y(0)}${deltas.map((_, at) => `L${at} ${y(value(at))}L${at + 1} ${y(value(at))}`).join('')}L${deltas.length} ${y(0)}Z`;
    const line = (at: number, kind: string) => svg`<line class=${kind} x1="0" x2=${deltas.length} y1=${y(at)} y2=${y(at)}></line>`;
    return svg`
      <path class="worse" d=${area((at) => Math.min(0, deltas[at]!.low))}></path>
      <path class="better" d=${area((at) => Math.max(0, deltas[at]!.high))}></path>
      ${mean === null || ci95 === null ? nothing : svg`<rect class="interval-band" x="0" width=${deltas.length} y=${y(Math.min(high, mean + ci95))} height=${Math.max(0.5, y(Math.max(low, mean - ci95)) - y(Math.min(high, mean + ci95)))}></rect>`}
      ${line(0, 'zero')} ${mean === null ? nothing : line(mean, 'mean')}`;
  }
}
