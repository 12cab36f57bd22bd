import * as l10n from '@vscode/l10n';
import { html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import type { SearchEnd, SearchHit } from '../../../src/protocol/traceView.js';
import { PageElement, emit, icon } from '../../element.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';
import { message } from '../traceModel.js';
import './search.css';

export type Search = (text: string, onHits: (hits: readonly SearchHit[]) => void) => Promise<SearchEnd>;

const TYPING_MS = 200;
/** Hits that are shown: more cannot be read, and the search should be made narrower. */
const MOST_SHOWN = 500;

/** Searches the whole trace; hits come as they are found. */
@customElement('rl-search')
export class SearchPanel extends PageElement {
  @property({ attribute: false }) text = '';
  @property({ attribute: false }) search!: Search;
  @property({ attribute: false }) end!: () => void;
  /** Increases when the trace became another one. */
  @property({ attribute: false }) revision = 0;
  @state() private hits: readonly SearchHit[] = [];
  @state() private running = false;
  @state() private found?: SearchEnd;
  @state() private problem?: string;
  @state() private cursor = -1;
  @query('input') private readonly input!: HTMLInputElement;
  #typing?: ReturnType<typeof setTimeout>;
  #run = 0;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#typing);
    this.#run++;
    this.end();
  }

  protected override firstUpdated(): void {
    this.focusInput();
    if (this.text !== '') void this.#start(this.text);
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('cursor')) this.querySelector(`[data-hit="${this.cursor}"]`)?.scrollIntoView({ block: 'nearest' });
  }

  focusInput(): void {
    this.input.focus();
    this.input.select();
  }

  readonly #onInput = () => {
    clearTimeout(this.#typing);
    const text = this.input.value;
    this.#typing = setTimeout(() => void this.#start(text), TYPING_MS);
  };

  async #start(text: string): Promise<void> {
    const run = ++this.#run;
    clearTimeout(this.#typing);
    this.end();
    this.hits = [];
    this.found = undefined;
    this.problem = undefined;
    this.cursor = -1;
    this.running = text !== '';
    emit(this, 'find', text);
    if (text === '') return;
    try {
      const found = await this.search(text, (hits) => {
        if (run === this.#run) this.hits = [...this.hits, ...hits];
      });
      if (run === this.#run) this.found = found;
    } catch (error) {
      if (run === this.#run) this.problem = message(error);
    } finally {
      if (run === this.#run) this.running = false;
    }
  }

  #status(): string {
    const count = format.integer(this.found?.hits ?? this.hits.length);
    if (this.running) return l10n.t('{0} so far…', count);
    if (!this.found) return '';
    if (this.found.hits === 0) return l10n.t('No results');
    if (!this.found.complete) return l10n.t('the first {0}', count);
    return this.found.hits === 1 ? l10n.t('1 result') : l10n.t('{0} results', count);
  }

  override render() {
    return html`<div class="search-bar" role="search" @keydown=${this.#onKey}>
        <div class="search-input">
          ${icon('search')}
          <input
            type="text"
            .value=${this.text}
            placeholder=${l10n.t('Search the whole trace')}
            aria-label=${l10n.t('Search the whole trace')}
            maxlength="500"
            spellcheck="false"
            role="combobox"
            aria-expanded=${this.hits.length > 0 ? 'true' : 'false'}
            aria-controls="search-hits"
            aria-autocomplete="list"
            aria-activedescendant=${this.cursor >= 0 && this.cursor < MOST_SHOWN ? `hit-${this.cursor}` : nothing}
            @input=${this.#onInput}
          />
          <span class="search-status figures" role="status">${this.#status()}</span>
          <button type="button" class="toolbar-button" aria-label=${l10n.t('Close Search')} title=${l10n.t('Close (Escape)')} @click=${() => emit(this, 'search-close', undefined)}>${icon('close')}</button>
        </div>
        ${this.problem === undefined ? nothing : html`<p class="search-problem" role="alert">${l10n.t('Failed to search: {0}', this.problem)}</p>`}
      </div>
      <div class="search-hits" id="search-hits" role="listbox" aria-label=${l10n.t('Results')} ?hidden=${this.hits.length === 0} @click=${this.#onClick}>
        ${this.hits.slice(0, MOST_SHOWN).map(
          ({ step, text, start, end }, index) => html`<div class="hit" role="option" id=${`hit-${index}`} data-hit=${index} aria-selected=${index === this.cursor ? 'true' : 'false'}>
            <span class="hit-step figures">${format.integer(step)}</span>
            <span class="hit-text">${start > 24 ? '\u2026' : ''}${oneText(text.slice(Math.max(0, start - 24), start))}<mark>${oneText(text.slice(start, end))}</mark>${oneText(text.slice(end, end + 200))}</span>
          </div>`,
        )}
        ${this.hits.length > MOST_SHOWN ? html`<p class="secondary">${l10n.t('{0} more; search for something longer.', format.integer(this.hits.length - MOST_SHOWN))}</p>` : nothing}
      </div>`;
  }

  #goTo(index: number): void {
    const hit = this.hits[index];
    if (!hit) return;
    this.cursor = index;
    emit(this, 'go', hit.step);
  }

  #onClick(event: Event): void {
    const index = (event.target as Element).closest<HTMLElement>('[data-hit]')?.dataset['hit'];
    if (index !== undefined) this.#goTo(Number(index));
  }

  readonly #onKey = (event: KeyboardEvent) => {
    const last = Math.min(this.hits.length, MOST_SHOWN) - 1;
    if (event.key === 'Escape') emit(this, 'search-close', undefined);
    else if (event.key === 'ArrowDown' || (event.key === 'Enter' && !event.shiftKey)) this.#goTo(this.cursor >= last ? 0 : this.cursor + 1);
    else if (event.key === 'ArrowUp' || event.key === 'Enter') this.#goTo(this.cursor <= 0 ? last : this.cursor - 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

/** As `oneLine`, with the spaces at its ends: it is a piece of a line. */
const oneText = (text: string): string => `${/^\s/.test(text) ? ' ' : ''}${oneLine(text, 400)}${/\s$/.test(text) && text.trim() !== '' ? ' ' : ''}`;
