import * as l10n from '@vscode/l10n';
import { html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import type { StepKind, StepSummary, TimelineBin } from '../../../src/protocol/traceView.js';
import { PageElement, emit } from '../../element.js';
import * as format from '../../format.js';
import { onThemeChange, readTheme } from '../../theme.js';
import { KINDS, kindWord, spokenStep } from '../words.js';
import { draw } from './draw.js';
import './timeline.css';

/** Asked for again at most so often while the trace grows, ms. */
const REFRESH_MS = 1000;

/** All steps on one line, scaled by time, with the reward above. A slider over the steps. */
@customElement('rl-timeline')
export class Timeline extends PageElement {
  @property({ attribute: false }) total = 0;
  @property({ attribute: false }) selected = 0;
  @property({ attribute: false }) summary?: StepSummary;
  /** Increases when there is another timeline to ask for. */
  @property({ attribute: false }) revision = 0;
  @property({ attribute: false }) load!: (bins: number) => Promise<readonly TimelineBin[]>;
  /** Whether positions are times. */
  @property({ attribute: false }) timed = true;
  @state() private bins: readonly TimelineBin[] = [];
  @query('canvas') private readonly canvas!: HTMLCanvasElement;
  @query('.timeline-track') private readonly track!: HTMLElement;
  @query('.timeline-mark') private readonly mark!: HTMLElement;
  #endThemeWatch?: () => void;
  #resize?: ResizeObserver;
  #width = 0;
  #loadedAt = 0;
  #timer?: ReturnType<typeof setTimeout>;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#endThemeWatch = onThemeChange(() => this.#draw());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#endThemeWatch?.();
    this.#resize?.disconnect();
    clearTimeout(this.#timer);
  }

  protected override firstUpdated(): void {
    this.#resize = new ResizeObserver(() => {
      const width = Math.round(this.track.clientWidth);
      if (width === this.#width) return;
      this.#width = width;
      this.#draw();
      this.#schedule();
    });
    this.#resize.observe(this.track);
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('revision') && this.#width > 0) this.#schedule();
    if (changed.has('bins')) this.#draw();
    this.#place();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#load(), this.bins.length === 0 ? 0 : Math.max(60, this.#loadedAt + REFRESH_MS - performance.now()));
  }

  async #load(): Promise<void> {
    const { revision } = this;
    const bins = await this.load(Math.max(1, this.#width)).catch(() => undefined);
    this.#loadedAt = performance.now();
    if (bins && revision === this.revision) this.bins = bins;
    else if (bins) this.#schedule();
  }

  get #end(): number {
    return this.bins.at(-1)?.to ?? 0;
  }

  #draw(): void {
    if (!this.canvas || this.#width === 0) return;
    draw(this.canvas, this.#width, this.bins, readTheme());
    this.#place();
  }

  /** Puts the mark where the selected step is. */
  #place(): void {
    const bin = this.bins.find(({ last }) => last >= this.selected) ?? this.bins.at(-1);
    if (!bin || !this.mark || this.#end <= 0) return;
    const each = (bin.to - bin.from) / (bin.last - bin.first + 1);
    const from = bin.from + each * Math.min(bin.last - bin.first, Math.max(0, this.selected - bin.first));
    const scale = this.#width / this.#end;
    this.mark.style.transform = `translateX(${Math.min(this.#width - 2, from * scale)}px)`;
    this.mark.style.width = `${Math.max(2, each * scale)}px`;
  }

  override render() {
    const kinds = KINDS.filter((kind) => this.bins.some((bin) => bin.kind === kind));
    const reward = this.bins.findLast((bin) => bin.reward !== undefined)?.reward;
    return html`<div
        class="timeline-track"
        role="slider"
        tabindex="0"
        aria-label=${l10n.t('Timeline')}
        aria-valuemin="1"
        aria-valuemax=${Math.max(1, this.total)}
        aria-valuenow=${this.selected + 1}
        aria-valuetext=${this.summary ? spokenStep(this.summary) : l10n.t('Step {0}', this.selected + 1)}
        @pointerdown=${this.#onPointerDown}
        @pointermove=${this.#onPointerMove}
      >
        <canvas aria-hidden="true"></canvas>
        <div class="timeline-mark"></div>
      </div>
      <div class="timeline-foot figures">
        <span>${this.timed ? format.duration(0) : l10n.t('step {0}', 0)}</span>
        <span class="legend">${kinds.map((kind) => html`<span class="legend-item"><span class="swatch" data-kind=${kind}></span>${kindWord(kind).text}</span>`)} ${reward === undefined ? nothing : html`<span class="legend-item"><span class="swatch swatch-line"></span>${l10n.t('reward so far')}</span>`}</span>
        <span>${this.timed ? format.duration(this.#end) : l10n.t('step {0}', format.integer(this.#end))}</span>
      </div>`;
  }

  #stepAt(event: PointerEvent): number | undefined {
    const { left, width } = this.track.getBoundingClientRect();
    const at = (Math.min(width, Math.max(0, event.clientX - left)) / width) * this.#end;
    const bin = this.bins.find(({ to }) => to >= at) ?? this.bins.at(-1);
    if (!bin) return undefined;
    const share = bin.to > bin.from ? (at - bin.from) / (bin.to - bin.from) : 0;
    return Math.min(bin.last, Math.max(bin.first, bin.first + Math.floor(share * (bin.last - bin.first + 1))));
  }

  readonly #onPointerDown = (event: PointerEvent) => {
    this.track.setPointerCapture(event.pointerId);
    const step = this.#stepAt(event);
    if (step !== undefined) emit(this, 'go', step);
  };

  readonly #onPointerMove = (event: PointerEvent) => {
    const step = this.#stepAt(event);
    if (step === undefined) return;
    if (this.track.hasPointerCapture(event.pointerId)) emit(this, 'go', step);
    const kind: StepKind | undefined = this.bins.find(({ last }) => last >= step)?.kind;
    this.track.title = l10n.t('Step {0}, {1}', format.integer(step), kind ? kindWord(kind).text : '');
  };
}
