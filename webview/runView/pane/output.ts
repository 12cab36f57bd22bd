import * as l10n from '@vscode/l10n';
import { type PropertyValues, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { EpisodeDetail, OutputText } from '../../../src/protocol/runView.js';
import { AnsiPalette, ansiNodes } from '../../ansiView.js';
import { PageElement, emit } from '../../element.js';
import * as format from '../../format.js';
import { onThemeChange, readTheme } from '../../theme.js';

/** Characters shown at the beginning and at the end of an output: what can be read at all, and laid out at once. */
const HEAD = 40_000;
const TAIL = 120_000;

type Stream = 'stdout' | 'stderr' | 'verifier';

function streamName(stream: Stream): string {
  switch (stream) {
    case 'stdout': return l10n.t('Standard output');
    case 'stderr': return l10n.t('Standard error');
    case 'verifier': return l10n.t('Verifier');
  }
}

/** What the episode and its verifier wrote. */
@customElement('rl-episode-output')
export class EpisodeOutput extends PageElement {
  @property({ attribute: false }) detail!: EpisodeDetail;
  #palette!: AnsiPalette;
  #endThemeWatch?: () => void;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#palette = new AnsiPalette(readTheme());
    this.#endThemeWatch = onThemeChange(() => {
      this.#palette = new AnsiPalette(readTheme());
      this.requestUpdate('detail');
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#endThemeWatch?.();
  }

  protected override shouldUpdate(changed: PropertyValues<this>): boolean {
    return changed.has('detail');
  }

  override render() {
    const { record, stdout, stderr, verifier } = this.detail;
    const shown: [Stream, OutputText | undefined, number | undefined][] = [
      ['stdout', stdout, record.output.stdout],
      ['stderr', stderr, record.output.stderr],
      ['verifier', verifier, undefined],
    ];
    const sections = shown.filter(([, output]) => output && (output.text !== '' || output.dropped > 0));
    if (sections.length === 0) return html`<p class="pane-empty">${l10n.t('The episode wrote nothing.')}</p>`;
    return sections.map(([stream, output, size]) => this.#section(stream, output!, size));
  }

  #section(stream: Stream, { text, dropped }: OutputText, size: number | undefined) {
    const cut = text.length - HEAD - TAIL;
    const open = () => emit(this, 'episode-open', { episode: this.detail.record.episode, what: stream });
    return html`<section class="output-section" data-stream=${stream}>
      <div class="output-head">
        <h3>${streamName(stream)}</h3>
        <span class="figures">${size === undefined ? nothing : format.bytes(size)}</span>
        <button type="button" class="link" aria-label=${l10n.t('Open in Editor: {0}', streamName(stream))} @click=${open}>${l10n.t('Open in Editor')}</button>
      </div>
      ${dropped > 0 ? html`<p class="output-cut">${l10n.t('{0} bytes are not shown.', format.integer(dropped))}</p>` : nothing}
      <pre class="output">${ansiNodes(cut > 0 ? text.slice(0, HEAD) : text, this.#palette)}</pre>
      ${cut > 0
        ? html`<p class="output-cut">${l10n.t('{0} characters in the middle are not shown here.', format.integer(cut))}</p>
            <pre class="output">${ansiNodes(text.slice(-TAIL), this.#palette)}</pre>`
        : nothing}
    </section>`;
  }
}
