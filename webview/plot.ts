import { type AlignedData, type Axis, type Options } from 'uplot';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { css } from './colour.js';
import { PageElement } from './element.js';
import { type Theme, onThemeChange, readTheme } from './theme.js';

/** An element with one line chart that keeps to the theme and to the size of its box. */
export abstract class PlotElement extends PageElement {
  protected theme!: Theme;
  #plot?: uPlot;
  readonly #resized = new ResizeObserver(() => this.#resize());
  #endThemeWatch?: () => void;

  /** Where the chart is put; it is there once `draw` is called. */
  protected abstract readonly box: HTMLElement;
  /** Size is the box's. */
  protected abstract options(): Omit<Options, 'width' | 'height'>;

  override connectedCallback(): void {
    super.connectedCallback();
    this.theme = readTheme();
    this.#endThemeWatch = onThemeChange(() => {
      this.theme = readTheme();
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

  protected draw(data: AlignedData): void {
    if (this.#plot) return this.#plot.setData(data);
    const { box } = this;
    this.#plot = new uPlot({ ...this.options(), width: box.clientWidth || 300, height: box.clientHeight || 112 }, data, box);
    this.#resized.observe(box);
  }

  /** What both axes of a chart have in common. */
  protected get axis(): Axis {
    const text = () => css(this.theme.colour('descriptionForeground', this.theme.foreground));
    return { stroke: text, font: this.theme.font, grid: { show: false }, ticks: { stroke: this.line, width: 1, size: 4 }, gap: 2 };
  }

  protected readonly line = () => css(this.theme.foreground, this.theme.highContrast ? 0.6 : 0.2);

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (this.#plot && width > 0 && height > 0 && (width !== this.#plot.width || height !== this.#plot.height)) this.#plot.setSize({ width, height });
  }
}
