import * as l10n from '@vscode/l10n';
import '@vscode-elements/elements/dist/vscode-option/index.js';
import '@vscode-elements/elements/dist/vscode-single-select/index.js';
import '@vscode-elements/elements/dist/vscode-textfield/index.js';
import { html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { PageElement, emit, icon } from '../element.js';
import { GROUPINGS, type Grouping } from './viewState.js';
import './filterBar.css';

function groupingName(grouping: Grouping): string {
  switch (grouping) {
    case 'none': return l10n.t('none');
    case 'cause': return l10n.t('cause');
    case 'status': return l10n.t('status');
    case 'seed': return l10n.t('seed');
  }
}

/** The filter of the table, what it can say, and how the episodes are grouped. */
@customElement('rl-filter-bar')
export class FilterBar extends PageElement {
  @property({ attribute: false }) filter = '';
  @property({ attribute: false }) filterError?: string;
  @property({ attribute: false }) grouping: Grouping = 'none';
  /** Episodes for each seed. */
  @property({ attribute: false }) samples = 1;
  /** How many episodes are chosen. */
  @property({ attribute: false }) marked = 0;
  /** How many episodes are in the table, in words. */
  @property({ attribute: false }) count = '';
  @state() private help = false;
  @query('vscode-textfield') private readonly input!: HTMLElement & { value: string };

  override render() {
    return html`
      <div class="filter-field">
        <vscode-textfield
          .label=${l10n.t('Filter episodes')}
          .value=${this.filter}
          .invalid=${this.filterError !== undefined}
          .maxLength=${4096}
          placeholder=${l10n.t('Filter, such as status:error reward<0.1')}
          @input=${() => emit(this, 'filter-input', this.input.value)}
          @keydown=${this.#onKey}
        >
          <span slot="content-before">${icon('filter')}</span>
          <span slot="content-after">
            ${this.filter === '' ? nothing : html`<button type="button" class="toolbar-button" aria-label=${l10n.t('Clear the filter')} title=${l10n.t('Clear the filter')} @click=${this.#clear}>${icon('close')}</button>`}
            <button
              type="button"
              class="toolbar-button filter-help-button"
              aria-expanded=${this.help ? 'true' : 'false'}
              aria-controls="filter-help"
              aria-label=${l10n.t('What a filter can say')}
              title=${l10n.t('What a filter can say')}
              @click=${() => (this.help = !this.help)}
            >
              ${icon('question')}
            </button>
          </span>
        </vscode-textfield>
        <div id="filter-help" class="filter-help" ?hidden=${!this.help} @keydown=${this.#onKey}>${this.#help()}</div>
      </div>
      <label class="grouping">
        <span>${l10n.t('Group by')}</span>
        <vscode-single-select .label=${l10n.t('Group by')} .value=${this.grouping} @change=${(event: Event) => emit(this, 'grouping', (event.target as HTMLInputElement).value as Grouping)}>
          ${GROUPINGS.filter((grouping) => grouping !== 'seed' || this.samples > 1).map((grouping) => html`<vscode-option value=${grouping} ?selected=${grouping === this.grouping}>${groupingName(grouping)}</vscode-option>`)}
        </vscode-single-select>
      </label>
      <span class="episode-count figures" role="status">${this.marked === 0 ? this.count : this.marked === 1 ? l10n.t('1 selected') : l10n.t('{0} selected', this.marked)}</span>
      ${this.marked === 0 ? nothing : this.#selectionActions()}
      ${this.filterError === undefined ? nothing : html`<div class="filter-error" role="alert">${icon('error')} ${this.filterError}</div>`}`;
  }

  #selectionActions() {
    const button = (type: string, glyph: string, name: string) => html`<button type="button" class="toolbar-button" aria-label=${name} title=${name} @click=${() => emit(this, type, undefined)}>${icon(glyph)}</button>`;
    return html`<span class="selection-actions" role="toolbar" aria-label=${l10n.t('Actions of the selection')}>
      ${button('selection-export', 'export', l10n.t('Export the selected episodes'))}
      ${this.marked === 2 ? button('selection-compare', 'compare-changes', l10n.t('Compare the two traces')) : nothing} ${button('selection-clear', 'close', l10n.t('Clear the selection'))}
    </span>`;
  }

  #help() {
    const term = (code: string, meaning: string) => html`<div><dt><code>${code}</code></dt><dd>${meaning}</dd></div>`;
    return html`
      <p>${l10n.t('Terms are separated by blanks. All of them must hold; a minus before one turns it round.')}</p>
      <dl>
        ${term('status:error', l10n.t('completed, truncated, error or cancelled'))} ${term('reward<0.1', l10n.t('also <=, >, >= and =, or a range: reward:0.2..0.4'))}
        ${term('reward:none', l10n.t('episodes without a reward'))} ${term('seed:17', l10n.t('the same with episode, sample, steps and attempts'))}
        ${term('time>2s', l10n.t('milliseconds, if there is no unit'))} ${term('cause:timeout', l10n.t('part of the code of the cause'))}
        ${term('"no space"', l10n.t('anything else: text in the cause'))}
      </dl>`;
  }

  #clear(): void {
    emit(this, 'filter-input', '');
    this.input.focus();
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return;
    if (this.help) {
      this.help = false;
      this.querySelector<HTMLElement>('.filter-help-button')?.focus();
    } else if (this.filter !== '') this.#clear();
    else return;
    event.stopPropagation();
  }
}
