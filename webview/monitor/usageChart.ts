import * as l10n from '@vscode/l10n';
import { type PropertyValues, html } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import type uPlot from 'uplot';
import { css } from '../colour.js';
import { duration } from '../format.js';
import { PlotElement } from '../plot.js';

const MINUTE = 60;
const ago = (seconds: number): string => (seconds === 0 ? l10n.t('now') : `\u2212${-seconds % MINUTE ? `${-seconds} s` : `${-seconds / MINUTE} min`}`);

/** One figure over the last minutes, from 0 up. */
@customElement('rl-usage-chart')
export class UsageChart extends PlotElement {
  @property({ attribute: false }) heading = '';
  /** Seconds before the last measurement. */
  @property({ attribute: false }) at: readonly number[] = [];
  @property({ attribute: false }) values: readonly (number | null)[] = [];
  @property({ attribute: false }) format: (value: number | null) => string = String;
  /** Least height of the axis. */
  @property({ attribute: false }) least = 1;
  /** Distances that two lines may have. */
  @property({ attribute: false }) increments: readonly number[] = [1];
  /** Point under the pointer. */
  @state() private pointed?: number;
  @query('.usage-plot') protected override readonly box!: HTMLElement;

  /** Seconds of the axis: a minute, until there is more to show. */
  private get span(): number {
    return (this.at[0] ?? 0) >= -MINUTE ? MINUTE : 5 * MINUTE;
  }

  override render() {
    const last = this.format(this.values.at(-1) ?? null);
    const at = this.pointed !== undefined && this.pointed < this.at.length ? this.pointed : undefined;
    const before = (seconds: number) => (seconds === 0 ? l10n.t('now') : l10n.t('{0} ago', duration(-seconds * 1000)));
    return html`
      <div class="chart-head">
        <h2>${this.heading}</h2>
        <span class="figures">${at === undefined ? last : `${before(this.at[at]!)}: ${this.format(this.values[at] ?? null)}`}</span>
      </div>
      <div class="usage-plot" role="img" aria-label=${l10n.t('{0} over the last minutes, now {1}', this.heading, last)}></div>`;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('values') || changed.has('at')) this.draw([this.at, this.values] as unknown as uPlot.AlignedData);
  }

  protected override options() {
    const colour = () => css(this.theme.colour('charts-blue', [55, 148, 255]));
    const fill = () => css(this.theme.colour('charts-blue', [55, 148, 255]), this.theme.highContrast ? 0 : 0.15);
    return {
      padding: [8, 24, 0, 0] as uPlot.Padding,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6, fill: () => css(this.theme.foreground) } },
      scales: { x: { time: false, range: (): uPlot.Range.MinMax => [-this.span, 0] }, y: { range: (_plot: uPlot, _low: number, high: number): uPlot.Range.MinMax => [0, Math.max(this.least, (high ?? 0) * 1.1)] } },
      axes: [
        { ...this.axis, size: 20, splits: () => (this.span === MINUTE ? [-60, -45, -30, -15, 0] : [-300, -240, -180, -120, -60, 0]), values: (_plot: uPlot, splits: number[]) => splits.map(ago) },
        { ...this.axis, size: 64, space: 32, incrs: [...this.increments], values: (_plot: uPlot, splits: number[]) => splits.map((value) => this.format(value)), grid: { show: true, stroke: this.line, width: 1 / devicePixelRatio } },
      ],
      series: [{}, { stroke: colour, fill, width: 1.5, points: { show: false }, spanGaps: false }],
      hooks: { setCursor: [(plot: uPlot) => (this.pointed = plot.cursor.idx ?? undefined)] },
    };
  }
}
