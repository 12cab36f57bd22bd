import * as l10n from '@vscode/l10n';
import { type PropertyValues, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { Place, Side } from '../../src/protocol/traceDiff.js';
import type { BlobRef, StepDetail } from '../../src/protocol/traceView.js';
import { AnsiPalette } from '../ansiView.js';
import { PageElement, emit, icon } from '../element.js';
import { oneLine } from '../text.js';
import { onThemeChange, readTheme } from '../theme.js';
import type { StepHost } from '../traceView/step/host.js';
import '../traceView/step/step.css';
import { stepFacts, stepView } from '../traceView/step/stepView.js';

export interface SideLoader {
  step(side: Side, index: number): Promise<StepDetail>;
  blob(side: Side, ref: BlobRef): Promise<Uint8Array>;
}

/** A step of one of the traces, all of it. While the next one is on its way, the one before stays. */
@customElement('rl-diff-side')
export class DiffSide extends PageElement {
  @property({ attribute: false }) side!: Side;
  /** Null where the trace has no such step; undefined while it is not known. */
  @property({ attribute: false }) index?: number | null;
  @property({ attribute: false }) loader!: SideLoader;
  @state() private detail?: StepDetail;
  @state() private problem?: string;
  /** Increases when the same step is to be drawn again. */
  @state() private drawing = 0;
  #palette!: AnsiPalette;
  #endThemeWatch?: () => void;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#palette = new AnsiPalette(readTheme());
    this.#endThemeWatch = onThemeChange(() => {
      this.#palette = new AnsiPalette(readTheme());
      this.drawing++;
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#endThemeWatch?.();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('index') && typeof this.index === 'number') void this.#load(this.index);
  }

  async #load(index: number): Promise<void> {
    try {
      const detail = await this.loader.step(this.side, index);
      if (index !== this.index) return;
      this.detail = detail;
      this.problem = undefined;
    } catch (error) {
      if (index === this.index) this.problem = error instanceof Error ? error.message : String(error);
    }
  }

  override render() {
    const { side, index, detail } = this;
    const there = index !== null && detail !== undefined;
    const waiting = typeof index === 'number' && detail?.index !== index && this.problem === undefined;
    return html`<section class="step" aria-label=${side === 'a' ? l10n.t('Step of a') : l10n.t('Step of b')} aria-busy=${waiting ? 'true' : 'false'}>
      <div class="step-head">
        <h2><span class="step-label figures">${side} ${there ? oneLine(detail.label, 40) : nothing}</span> <span class="step-title">${there ? oneLine(detail.title, 300) : nothing}</span></h2>
        ${there
          ? html`<button type="button" class="toolbar-button" aria-label=${side === 'a' ? l10n.t('Open trace a here') : l10n.t('Open trace b here')} title=${l10n.t('Open the trace at this step')} @click=${() => emit(this, 'open-trace', { side, step: detail.index })}>
              ${icon('go-to-file')}
            </button>`
          : nothing}
        <div class="step-facts figures">${there ? stepFacts(detail) : nothing}</div>
      </div>
      <div class="step-body" tabindex="0" role="region" aria-label=${side === 'a' ? l10n.t('Content of the step of a') : l10n.t('Content of the step of b')}>${this.#content()}</div>
    </section>`;
  }

  #content() {
    if (this.index === null) return html`<p class="no-step">${l10n.t('There is no such step here.')}</p>`;
    if (this.problem !== undefined) return html`<div class="notice" role="alert">${icon('error', 'tone-error')} <span>${l10n.t('Failed to read the step: {0}', this.problem)}</span></div>`;
    return this.detail ? stepView(this.detail, this.#host(this.detail.index)) : nothing;
  }

  #host(step: number): StepHost {
    return {
      palette: this.#palette,
      find: '',
      blob: (ref) => this.loader.blob(this.side, ref),
      openText: (place: Place) => emit(this, 'open-text', { side: this.side, step, place }),
      browse: (url) => emit(this, 'browse', url),
      // What was loaded concerns the other side, too.
      redraw: () => emit(this, 'redraw', undefined),
    };
  }
}
