import * as l10n from '@vscode/l10n';
import { type PropertyValues, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import type { BlobRef, Place, StepDetail, StepSummary } from '../../../src/protocol/traceView.js';
import { AnsiPalette } from '../../ansiView.js';
import { PageElement, emit, icon } from '../../element.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';
import { onThemeChange, readTheme } from '../../theme.js';
import { message } from '../traceModel.js';
import { code } from './code.js';
import type { StepHost } from './host.js';
import { folded } from './parts.js';
import './step.css';
import { stepFacts, stepView } from './stepView.js';

export interface RawText {
  readonly text: string;
  readonly bytes: number;
}

/** What the pane asks for. */
export interface StepLoader {
  step(index: number): Promise<StepDetail>;
  raw(index: number): Promise<RawText>;
  blob(ref: BlobRef, signal?: AbortSignal): Promise<Uint8Array>;
}

/** Requests for steps at once. */
const MOST_IN_FLIGHT = 2;

/** One step. While the next one is on its way, the one before stays. */
@customElement('rl-step-pane')
export class StepPane extends PageElement {
  @property({ attribute: false }) index!: number;
  /** Of the list, which is there before the step is. */
  @property({ attribute: false }) summary?: StepSummary;
  @property({ attribute: false }) raw = false;
  @property({ attribute: false }) find = '';
  @property({ attribute: false }) loader!: StepLoader;
  /** Whether its state can be reached again. */
  @property({ attribute: false }) travels = false;
  /** Increases when the step must be asked for again. */
  @property({ attribute: false }) revision = 0;
  @state() private detail?: StepDetail;
  @state() private rawText?: RawText;
  @state() private problem?: string;
  /** Increases when the same step is to be drawn again. */
  @state() private drawing = 0;
  @query('.step-body') private readonly body?: HTMLElement;
  #palette!: AnsiPalette;
  #endThemeWatch?: () => void;
  #inFlight = 0;
  #asked = 0;
  /** The turn of what is shown. */
  #came = 0;
  /** Something was asked for since that could not go out yet. */
  #waiting = false;
  /** Whether what comes next is another step, which is read from its top. */
  #toTop = false;
  #scrolledTo = '';

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

  /** The step that is shown, once it is there. */
  get shown(): StepDetail | undefined {
    return this.detail?.index === this.index ? this.detail : undefined;
  }

  focusBody(): void {
    this.body?.focus();
  }

  /** While a trace grows, a step that stays the same is not drawn again: what is selected in it stays selected. */
  protected override shouldUpdate(changed: PropertyValues<this>): boolean {
    if (changed.has('index') || changed.has('raw') || changed.has('revision')) this.#load(changed.has('index'));
    return !this.shown || [...changed.keys()].some((key) => key !== 'revision' && key !== 'summary');
  }

  /** Two steps are on their way at most: who runs through the trace sees what has come, and waits for nothing that was passed. */
  #load(other: boolean): void {
    this.#toTop ||= other;
    if (this.#inFlight >= MOST_IN_FLIGHT) this.#waiting = true;
    else void this.#fetch(++this.#asked);
  }

  async #fetch(turn: number): Promise<void> {
    const { index, raw } = this;
    this.#inFlight++;
    this.#waiting = false;
    try {
      const [detail, rawText] = await Promise.all([this.loader.step(index), raw ? this.loader.raw(index) : undefined]);
      if (turn < this.#came) return;
      this.#came = turn;
      this.detail = detail;
      this.rawText = rawText;
      this.problem = undefined;
      if (this.#toTop && this.body) this.body.scrollTop = 0;
      this.#toTop &&= index !== this.index;
      if (index === this.index) emit(this, 'step-shown', index);
    } catch (error) {
      if (index !== this.index) return;
      this.#came = turn;
      this.detail = undefined;
      this.problem = message(error);
    } finally {
      this.#inFlight--;
      if (this.#waiting) void this.#fetch(++this.#asked);
    }
  }

  protected override updated(): void {
    this.#highlight();
  }

  /** Marks what is searched for, without a change to the page's elements. */
  #highlight(): void {
    CSS.highlights.delete('find');
    if (this.find === '' || !this.body) return;
    // Elements of the step draw themselves in their own turn.
    requestAnimationFrame(() => {
      if (!this.body || this.find === '') return;
      const ranges: Range[] = [];
      const walker = document.createTreeWalker(this.body, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node && ranges.length < 2000; node = walker.nextNode()) {
        const text = node.nodeValue!.toLowerCase();
        for (let at = text.indexOf(this.find); at >= 0 && ranges.length < 2000; at = text.indexOf(this.find, at + this.find.length)) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, Math.min(at + this.find.length, node.nodeValue!.length));
          ranges.push(range);
        }
      }
      CSS.highlights.set('find', new Highlight(...ranges));
      const [first] = ranges;
      if (first && this.#scrolledTo !== `${this.index} ${this.find}`) {
        this.#scrolledTo = `${this.index} ${this.find}`;
        first.startContainer.parentElement?.scrollIntoView({ block: 'nearest' });
      }
    });
  }

  override render() {
    const { detail, summary } = this;
    const step = this.shown ?? summary ?? detail;
    return html`<section class="step" aria-label=${step ? l10n.t('Step {0}', oneLine(step.label, 40)) : l10n.t('Step')} aria-busy=${this.shown || this.problem !== undefined ? 'false' : 'true'}>
      <div class="step-head">
        <h2><span class="step-label figures">${step ? oneLine(step.label, 40) : nothing}</span> <span class="step-title">${step ? oneLine(step.title, 300) : nothing}</span></h2>
        <div class="step-actions" role="toolbar" aria-label=${l10n.t('Actions of the step')}>${this.#actions()}</div>
        <div class="step-facts figures">${this.shown ? stepFacts(this.shown) : nothing}</div>
      </div>
      <div class="step-body" tabindex="0" role="region" aria-label=${l10n.t('Content of the step')}>${this.#content()}</div>
    </section>`;
  }

  #content() {
    if (this.problem !== undefined) {
      return html`<div class="notice" role="alert">
        ${icon('error', 'tone-error')} <span>${l10n.t('Failed to read the step: {0}', this.problem)}</span>
        <button type="button" class="link" @click=${() => this.#load(false)}>${l10n.t('Retry')}</button>
      </div>`;
    }
    const host = this.#host();
    if (this.raw && this.rawText) return this.#raw(this.rawText, host);
    return this.detail ? stepView(this.detail, host) : nothing;
  }

  #raw({ text, bytes }: RawText, host: StepHost) {
    const missing = bytes - new TextEncoder().encode(text).length;
    return html`<div class="raw">
      ${folded(prettyJson(text), undefined, host, (part) => code(part, 'json', host))}
      ${missing > 0 ? html`<div class="fold">${l10n.t('{0} more are in the file', format.bytes(missing))} <button type="button" class="link" @click=${() => emit(this, 'step-open', { raw: true })}>${l10n.t('Open in Editor')}</button></div>` : nothing}
    </div>`;
  }

  #actions() {
    const model = this.shown?.model?.request !== undefined;
    const button = (event: string, glyph: string, label: string, key: string, more: { pressed?: boolean; detail?: unknown } = {}) => html`<button
      type="button"
      class="toolbar-button"
      aria-label=${label}
      aria-pressed=${more.pressed === undefined ? nothing : String(more.pressed)}
      title=${key ? l10n.t('{0} ({1})', label, key) : label}
      @click=${() => emit(this, event, more.detail)}
    >
      ${icon(glyph)}
    </button>`;
    return html`
      ${button('step-raw', 'json', l10n.t('Raw'), 'r', { pressed: this.raw })} ${button('step-copy', 'copy', l10n.t('Copy Step'), 'c', { detail: 'step' })}
      ${button('step-link', 'link', l10n.t('Copy Link to Step'), 'y')} ${button('step-open', 'go-to-file', l10n.t('Open in Editor'), 'o', { detail: { raw: true } })}
      ${this.travels
        ? html`${button('step-travel', 'vm', l10n.t('Open Sandbox at This Step'), 's', { detail: 'sandbox' })} ${button('step-travel', 'repo-forked', l10n.t('Fork from Here'), 'f', { detail: 'fork' })}`
        : nothing}
      ${model
        ? html`<button type="button" class="toolbar-button" title=${l10n.t('Copy the model call as a curl command')} @click=${() => emit(this, 'step-copy', 'curl')}>cURL</button>
            <button type="button" class="toolbar-button" title=${l10n.t('Copy the model call as a Python program')} @click=${() => emit(this, 'step-copy', 'python')}>Python</button>`
        : nothing}
    `;
  }

  #host(): StepHost {
    return {
      palette: this.#palette,
      find: this.find,
      blob: (ref, signal) => this.loader.blob(ref, signal),
      openText: (place: Place) => emit(this, 'step-open', { place }),
      browse: (url) => emit(this, 'browse', url),
      redraw: () => this.drawing++,
    };
  }
}

/** A line of JSON as people read it; anything else as it is. */
function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
