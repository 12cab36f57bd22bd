import * as l10n from '@vscode/l10n';
import { html, nothing, svg } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { RunComparison } from '../../src/protocol/compareView.js';
import { PageElement } from '../element.js';
import * as format from '../format.js';

const HEIGHT = 100;

/** The rewards of both runs in the same bins: a as an area, b as a line. */
@customElement('rl-distributions')
export class Distributions extends PageElement {
  @property({ attribute: false }) comparison!: RunComparison;
  /** Bin under the pointer. */
  @state() private pointed?: number;

  override render() {
    const { bins, a, b, pairs } = this.comparison;
    return html`
      <div class="chart-head">
        <h2>${l10n.t('Rewards of the seeds')}</h2>
        <span class="readout figures">${this.pointed === undefined || !bins ? this.#legend() : this.#describe(this.pointed)}</span>
      </div>
      ${bins
        ? html`<svg
              class="distributions"
              viewBox="0 0 ${bins.a.length} ${HEIGHT}"
              preserveAspectRatio="none"
              role="img"
              aria-label=${l10n.t('Rewards of {0} seeds: the median is {1} in a and {2} in b.', format.integer(pairs), format.reward(a.median), format.reward(b.median))}
              @pointermove=${this.#onPoint}
              @pointerleave=${() => (this.pointed = undefined)}
            >
              ${this.#content(bins)}
            </svg>
            <div class="chart-axis figures"><span>${format.edge(bins.low)}</span><span>${l10n.t('most: {0}', format.integer(Math.max(...bins.a, ...bins.b)))}</span><span>${format.edge(bins.high)}</span></div>`
        : html`<div class="chart-empty">${l10n.t('No seed has a reward in both runs.')}</div>`}`;
  }

  #legend() {
    return html`<span class="swatch-a" aria-hidden="true"></span> a <span class="swatch-b" aria-hidden="true"></span> b`;
  }

  #describe(bin: number): string {
    const { low, high, a, b } = this.comparison.bins!;
    const edge = (at: number) => format.edge(low + ((high - low) * at) / a.length);
    return l10n.t('{0} to {1}: {2} in a, {3} in b', edge(bin), edge(bin + 1), format.integer(a[bin]!), format.integer(b[bin]!));
  }

  readonly #onPoint = (event: PointerEvent) => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    const { length } = this.comparison.bins!.a;
    this.pointed = Math.min(length - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * length)));
  };

  #content({ low, high, a, b }: NonNullable<RunComparison['bins']>) {
    const tallest = Math.max(1, ...a, ...b);
    const y = (count: number) => Math.round(1e3 * HEIGHT * (1 - count / tallest)) / 1e3;
    const steps = (counts: readonly number[]) => counts.map((count, at) => `L${at} ${y(count)}L${at + 1} ${y(count)}`).join('');
    const mean = (value: number | null, kind: string) => {
      const x = value === null || high <= low ? undefined : ((value - low) / (high - low)) * a.length;
      return x === undefined ? nothing : svg`<line class="mean ${kind}" x1=${x} x2=${x} y1="0" y2=${HEIGHT}></line>`;
    };
    return svg`
      <path class="of-a" d="M0 ${HEIGHT}${steps(a)}L${a.length} ${HEIGHT}Z"></path>
      <path class="of-b" d="M0 ${HEIGHT}${steps(b)}L${b.length} ${HEIGHT}"></path>
      ${mean(this.comparison.a.mean, 'mean-a')} ${mean(this.comparison.b.mean, 'mean-b')}`;
  }
}
