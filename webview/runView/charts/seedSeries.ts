import * as l10n from '@vscode/l10n';
import { type PropertyValues, html } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import type uPlot from 'uplot';
import type { SeedSeries } from '../../../src/protocol/runView.js';
import { css } from '../../colour.js';
import * as format from '../../format.js';
import { PlotElement } from '../../plot.js';
import { seriesSwitch } from './seriesSwitch.js';

/** Rewards by seed, in the order of the run: their mean, and their range where a point stands for several. */
@customElement('rl-seed-series')
export class SeedSeriesChart extends PlotElement {
  @property({ attribute: false }) series!: SeedSeries;
  @property({ attribute: false }) empty = '';
  /** Point under the pointer. */
  @state() private pointed?: number;
  @query('.series-plot') protected override readonly box!: HTMLElement;

  /** Whether rewards of a point lie apart. */
  get #spread(): boolean {
    return this.series.low.some((low, at) => low !== this.series.high[at]);
  }

  get #hasData(): boolean {
    return this.series.mean.some((value) => value !== null);
  }

  #readout(at: number): string {
    const { seed, low, mean, high } = this.series;
    const value = format.reward(mean[at] ?? null);
    return this.#spread ? l10n.t('seed {0}: mean {1}, {2} to {3}', seed[at]!, value, format.reward(low[at] ?? null), format.reward(high[at] ?? null)) : l10n.t('seed {0}: {1}', seed[at]!, value);
  }

  override render() {
    const { seed, stretch } = this.series;
    const readout = this.pointed !== undefined && this.pointed < seed.length ? this.#readout(this.pointed) : '';
    const legend = this.#spread ? l10n.t('mean, range') : l10n.t('reward');
    return html`
      <div class="chart-head">
        ${seriesSwitch(this, 'seed')}
        <span class="readout figures">${readout || html`<span class="legend-line" aria-hidden="true"></span> ${legend}`}</span>
      </div>
      <div class="series-plot" ?hidden=${!this.#hasData} role="img" aria-label=${stretch > 1 ? l10n.t('Rewards by seed, {0} seeds a point.', stretch) : l10n.t('Rewards by seed, of {0} seeds.', format.integer(seed.length))}></div>
      ${this.#hasData ? '' : html`<div class="chart-empty">${this.empty}</div>`}`;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (!changed.has('series') || !this.#hasData) return;
    const { seed, low, mean, high } = this.series;
    // By place, since seeds may be in any order.
    this.draw([seed.map((_, at) => at), high, low, mean] as unknown as uPlot.AlignedData);
  }

  protected override options() {
    const blue = (share: number, highContrast: number) => () => css(this.theme.colour('charts-blue', [55, 148, 255]), this.theme.highContrast ? highContrast : share);
    const edge: uPlot.Series = { stroke: blue(0.2, 0.6), width: 1, points: { show: false } };
    return {
      padding: [6, 24, 0, 0] as uPlot.Padding,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6, fill: () => css(this.theme.foreground) } },
      scales: { x: { time: false } },
      axes: [
        { ...this.axis, size: 20, space: 60, values: (_plot: uPlot, splits: number[]) => splits.map((value) => (Number.isInteger(value) ? String(this.series.seed[value] ?? '') : '')) },
        { ...this.axis, size: 42, space: 24, grid: { show: true, stroke: this.line, width: 1 / devicePixelRatio } },
      ],
      series: [{}, edge, edge, { stroke: () => css(this.theme.foreground, this.#spread ? 1 : 0.4), width: 1, points: { show: () => !this.#spread, size: 3.5, width: 0, fill: blue(0.8, 1) } }],
      bands: [{ series: [1, 2] as uPlot.Band.Bounds, fill: blue(0.2, 0.35) }],
      hooks: { setCursor: [(plot: uPlot) => (this.pointed = plot.cursor.idx ?? undefined)] },
    };
  }
}
