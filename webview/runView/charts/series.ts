import * as l10n from '@vscode/l10n';
import { type PropertyValues, html } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import uPlot from 'uplot';
import type { RewardSeries } from '../../../src/protocol/runView.js';
import { css } from '../../colour.js';
import * as format from '../../format.js';
import { PlotElement } from '../../plot.js';
import { seriesSwitch } from './seriesSwitch.js';

/** Rewards in the order in which episodes finished, and their running mean. */
@customElement('rl-reward-series')
export class RewardSeriesChart extends PlotElement {
  @property({ attribute: false }) series: RewardSeries = { x: [], reward: [], runningMean: [] };
  @property({ attribute: false }) empty = '';
  /** Point under the pointer. */
  @state() private pointed?: number;
  @query('.series-plot') protected override readonly box!: HTMLElement;

  /** Whether there are more episodes than points, which then are the lowest and the highest of each stretch. */
  get #thinned(): boolean {
    return (this.series.x.at(-1) ?? 0) > this.series.x.length;
  }

  get #hasData(): boolean {
    return this.series.reward.some((value) => value !== null);
  }

  override render() {
    const { x, reward, runningMean } = this.series;
    const at = this.pointed !== undefined && this.pointed < x.length ? this.pointed : undefined;
    const readout = at === undefined ? '' : l10n.t('{0}: {1}, mean {2}', `#${format.integer(x[at]!)}`, format.reward(reward[at] ?? null), format.reward(runningMean[at] ?? null));
    const last = format.reward(runningMean.findLast((value) => value !== null) ?? null);
    return html`
      <div class="chart-head">
        ${seriesSwitch(this, 'finish')}
        <span class="readout figures">${readout || html`<span class="legend-line" aria-hidden="true"></span> ${this.#thinned ? l10n.t('running mean, range') : l10n.t('running mean')}`}</span>
      </div>
      <div
        class="series-plot"
        ?hidden=${!this.#hasData}
        role="img"
        aria-label=${l10n.t('Rewards in the order in which {0} episodes finished. The running mean ends at {1}.', format.integer(x.at(-1) ?? 0), last)}
      ></div>
      ${this.#hasData ? '' : html`<div class="chart-empty">${this.empty}</div>`}`;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (!changed.has('series') || !this.#hasData) return;
    const { x, reward, runningMean } = this.series;
    this.draw([x, reward, runningMean] as unknown as uPlot.AlignedData);
  }

  protected override options() {
    const points = () => css(this.theme.colour('charts-blue', [55, 148, 255]), this.theme.highContrast ? 1 : 0.55);
    const band = () => css(this.theme.colour('charts-blue', [55, 148, 255]), this.theme.highContrast ? 0.7 : 0.35);
    const range = uPlot.paths.linear!();
    return {
      padding: [6, 24, 0, 0] as uPlot.Padding,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6, fill: () => css(this.theme.foreground) } },
      scales: { x: { time: false } },
      axes: [
        { ...this.axis, size: 20, space: 60, values: (_plot: uPlot, splits: number[]) => splits.map((value) => (Number.isInteger(value) ? format.integer(value) : '')) },
        { ...this.axis, size: 42, space: 24, grid: { show: true, stroke: this.line, width: 1 / devicePixelRatio } },
      ],
      series: [
        {},
        {
          stroke: band,
          width: 2,
          spanGaps: true,
          paths: (...place: Parameters<uPlot.Series.PathBuilder>) => (this.#thinned ? range(...place) : null),
          points: { show: () => !this.#thinned, size: 3.5, width: 0, fill: points },
        },
        { stroke: () => css(this.theme.foreground), width: 1.5, points: { show: false }, spanGaps: true },
      ],
      hooks: { setCursor: [(plot: uPlot) => (this.pointed = plot.cursor.idx ?? undefined)] },
    };
  }
}
