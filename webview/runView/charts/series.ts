import * as l10n from '@vscode/l10n';
import { type PropertyValues, html } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { RewardSeries } from '../../../src/protocol/runView.js';
import { css } from '../../colour.js';
import { PageElement } from '../../element.js';
import * as format from '../../format.js';
import { type Theme, onThemeChange, readTheme } from '../../theme.js';

/** Rewards in the order in which episodes finished, and their running mean. */
@customElement('rl-reward-series')
export class RewardSeriesChart extends PageElement {
  @property({ attribute: false }) series: RewardSeries = { x: [], reward: [], runningMean: [] };
  @property({ attribute: false }) empty = '';
  /** Point under the pointer. */
  @state() private pointed?: number;
  @query('.series-plot') private readonly box!: HTMLElement;
  #plot?: uPlot;
  #theme!: Theme;
  readonly #resized = new ResizeObserver(() => this.#resize());
  #endThemeWatch?: () => void;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#theme = readTheme();
    this.#endThemeWatch = onThemeChange(() => {
      this.#theme = readTheme();
      this.#plot?.redraw(false, true);
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#endThemeWatch?.();
    this.#resized.disconnect();
    this.#plot?.destroy();
    this.#plot = undefined;
  }

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
        <h2>${l10n.t('Reward by finish order')}</h2>
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
    const data = [x, reward, runningMean] as unknown as uPlot.AlignedData;
    if (this.#plot) this.#plot.setData(data);
    else {
      this.#plot = new uPlot(this.#options(), data, this.box);
      this.#resized.observe(this.box);
    }
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (this.#plot && width > 0 && height > 0 && (width !== this.#plot.width || height !== this.#plot.height)) this.#plot.setSize({ width, height });
  }

  #options(): uPlot.Options {
    const text = () => css(this.#theme.colour('descriptionForeground', this.#theme.foreground));
    const line = () => css(this.#theme.foreground, this.#theme.highContrast ? 0.6 : 0.2);
    const points = () => css(this.#theme.colour('charts-blue', [55, 148, 255]), this.#theme.highContrast ? 1 : 0.55);
    const band = () => css(this.#theme.colour('charts-blue', [55, 148, 255]), this.#theme.highContrast ? 0.7 : 0.35);
    const range = uPlot.paths.linear!();
    const axis: uPlot.Axis = { stroke: text, font: this.#theme.font, grid: { show: false }, ticks: { stroke: line, width: 1, size: 4 }, gap: 2 };
    return {
      width: this.box.clientWidth || 300,
      height: this.box.clientHeight || 112,
      padding: [6, 24, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6, fill: () => css(this.#theme.foreground) } },
      scales: { x: { time: false } },
      axes: [
        { ...axis, size: 20, space: 60, values: (_plot, splits) => splits.map((value) => (Number.isInteger(value) ? format.integer(value) : '')) },
        { ...axis, size: 42, space: 24, grid: { show: true, stroke: line, width: 1 / devicePixelRatio } },
      ],
      series: [
        {},
        {
          stroke: band,
          width: 2,
          spanGaps: true,
          paths: (...place) => (this.#thinned ? range(...place) : null),
          points: { show: () => !this.#thinned, size: 3.5, width: 0, fill: points },
        },
        { stroke: () => css(this.#theme.foreground), width: 1.5, points: { show: false }, spanGaps: true },
      ],
      hooks: { setCursor: [(plot) => (this.pointed = plot.cursor.idx ?? undefined)] },
    };
  }
}
