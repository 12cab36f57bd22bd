import * as l10n from '@vscode/l10n';
import '@vscode-elements/elements/dist/vscode-tab-header/index.js';
import '@vscode-elements/elements/dist/vscode-tab-panel/index.js';
import '@vscode-elements/elements/dist/vscode-tabs/index.js';
import { type PropertyValues, type TemplateResult, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { EpisodeDetail } from '../../../src/protocol/runView.js';
import { PageElement, emit, icon } from '../../element.js';
import * as format from '../../format.js';
import { type Tab, TABS } from '../viewState.js';
import { statusWord } from '../words.js';
import './artifacts.js';
import type { LoadArtifact } from './artifacts.js';
import './output.js';
import './pane.css';
import { rewardView } from './reward.js';
import { timingView } from './timing.js';

/** One episode: what it wrote, what it earned and why, what it left, how long it took. */
@customElement('rl-episode-pane')
export class EpisodePane extends PageElement {
  @property({ attribute: false }) episode!: number;
  @property({ attribute: false }) tab: Tab = 'output';
  /** Asks for an episode. */
  @property({ attribute: false }) load!: (episode: number, signal: AbortSignal) => Promise<EpisodeDetail>;
  @property({ attribute: false }) loadArtifact!: LoadArtifact;
  @state() private detail?: EpisodeDetail;
  @state() private problem?: string;
  #request?: AbortController;
  /** What had the focus when it was asked for, while the tab is not there yet. */
  #focusFrom: Element | null | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.addEventListener('keydown', this.#onKey);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#request?.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('episode')) void this.#load();
  }

  async #load(): Promise<void> {
    this.#request?.abort();
    const request = (this.#request = new AbortController());
    this.problem = undefined;
    try {
      this.detail = await this.load(this.episode, request.signal);
    } catch (error) {
      if (request.signal.aborted) return;
      this.detail = undefined;
      this.problem = error instanceof Error ? error.message : String(error);
    }
  }

  /** Moves the focus to the tab that is shown, once there is one, unless the reader has left `from` by then. */
  focusTab(from: Element | null): void {
    this.#focusFrom = from;
    this.requestUpdate();
  }

  protected override updated(): void {
    if (this.#focusFrom === undefined || !this.detail || this.detail.record.episode !== this.episode) return;
    const moved = document.activeElement !== this.#focusFrom;
    this.#focusFrom = undefined;
    if (moved) return;
    const header = this.querySelector<HTMLElement & { updateComplete: Promise<unknown> }>(`vscode-tab-header[data-tab="${this.tab}"]`)!;
    void header.updateComplete.then(() => header.focus());
  }

  override render() {
    return html`<section class="pane" aria-label=${l10n.t('Episode {0}', this.episode)} aria-busy=${this.detail?.record.episode === this.episode || this.problem ? 'false' : 'true'}>
      <div class="pane-head">
        <h2 class="figures">${l10n.t('Episode {0}', this.episode)}</h2>
        <span class="pane-facts figures">${this.detail ? this.#facts(this.detail) : nothing}</span>
        <span class="pane-actions">
          <button type="button" class="toolbar-button" aria-label=${l10n.t('Open Trace')} title=${l10n.t('Open what the episode did, step by step')} @click=${() => emit(this, 'episode-open', { episode: this.episode, what: 'trace' })}>
            ${icon('list-tree')}
          </button>
          <button type="button" class="toolbar-button" aria-label=${l10n.t('Open Record')} title=${l10n.t('Open the record of the episode as JSON')} @click=${() => emit(this, 'episode-open', { episode: this.episode, what: 'record' })}>
            ${icon('json')}
          </button>
          <button type="button" class="toolbar-button" aria-label=${l10n.t('Close')} title=${l10n.t('Close (Escape)')} @click=${() => emit(this, 'pane-close', undefined)}>${icon('close')}</button>
        </span>
      </div>
      ${this.problem === undefined
        ? this.detail && this.#tabs(this.detail)
        : html`<div class="notice" role="alert">
            ${icon('error', 'tone-error')} <span>${l10n.t('Failed to read the episode: {0}', this.problem)}</span>
            <button type="button" class="link" @click=${() => void this.#load()}>${l10n.t('Retry')}</button>
          </div>`}
    </section>`;
  }

  #facts({ record }: EpisodeDetail) {
    const word = statusWord(record.status);
    return html`<span>${l10n.t('seed {0}', record.seed)}${record.sample > 0 ? l10n.t(', sample {0}', record.sample) : nothing}</span>
      <span class="tone-${word.tone}">${icon(word.icon)} ${word.text}</span>
      <span>${record.reward === null ? l10n.t('no reward') : format.reward(record.reward)}</span>
      <span>${format.duration(record.timings.total)}</span>`;
  }

  #tabs(detail: EpisodeDetail) {
    const panels: Record<Tab, { name: string; content: TemplateResult }> = {
      output: { name: l10n.t('Output'), content: html`<rl-episode-output .detail=${detail}></rl-episode-output>` },
      reward: { name: l10n.t('Reward'), content: rewardView(detail.record) },
      artifacts: { name: l10n.t('Artifacts'), content: html`<rl-episode-artifacts .detail=${detail} .load=${this.loadArtifact} .shown=${this.tab === 'artifacts'}></rl-episode-artifacts>` },
      timing: { name: l10n.t('Timing'), content: timingView(detail.record) },
    };
    const select = (event: CustomEvent<{ selectedIndex: number }>) => emit(this, 'pane-tab', TABS[event.detail.selectedIndex]!);
    return html`<vscode-tabs selected-index=${TABS.indexOf(this.tab)} @vsc-tabs-select=${select}>
      ${TABS.map((tab) => html`<vscode-tab-header slot="header" data-tab=${tab} ?active=${tab === this.tab}>${panels[tab].name}${tab === 'artifacts' && detail.record.artifacts > 0 ? ` (${detail.record.artifacts})` : nothing}</vscode-tab-header>`)}
      ${TABS.map((tab) => html`<vscode-tab-panel>${panels[tab].content}</vscode-tab-panel>`)}
    </vscode-tabs>`;
  }

  readonly #onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    emit(this, 'pane-leave', undefined);
  };
}
