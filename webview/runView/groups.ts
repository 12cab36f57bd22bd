import * as l10n from '@vscode/l10n';
import { html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { RunSnapshot } from '../../src/protocol/runView.js';
import { PageElement, emit, icon } from '../element.js';
import * as format from '../format.js';
import { oneLine } from '../text.js';
import { causeTerm, hasTerms } from './filterTerms.js';
import type { Grouping } from './viewState.js';
import { STATUSES, statusWord } from './words.js';
import './groups.css';

interface Group {
  readonly terms: readonly string[];
  readonly status: (typeof STATUSES)[number];
  readonly name: string;
  readonly count: number;
  readonly example: string;
}

function groupsOf({ failures, counts }: RunSnapshot, grouping: Grouping): Group[] {
  if (grouping === 'cause') {
    return failures.map(({ code, status, count, example }) => ({ terms: [`status:${status}`, causeTerm(code)], status, name: oneLine(code, 80), count, example: oneLine(example.startsWith(`${code}:`) ? example.slice(code.length + 1) : example, 300) }));
  }
  return STATUSES.filter((status) => counts[status] > 0).map((status) => ({ terms: [`status:${status}`], status, name: statusWord(status).text, count: counts[status], example: '' }));
}

/** Episodes by cause or by status; a group is a filter. */
@customElement('rl-run-groups')
export class RunGroups extends PageElement {
  @property({ attribute: false }) snapshot!: RunSnapshot;
  @property({ attribute: false }) grouping: Grouping = 'none';
  @property({ attribute: false }) filter = '';

  override render() {
    if (this.grouping === 'none' || this.grouping === 'seed') return '';
    const groups = groupsOf(this.snapshot, this.grouping);
    if (groups.length === 0) return html`<p class="groups-empty">${this.grouping === 'cause' ? l10n.t('No failures.') : l10n.t('No episode has finished.')}</p>`;
    return html`<ul class="groups" aria-label=${this.grouping === 'cause' ? l10n.t('Failures by cause') : l10n.t('Episodes by status')}>
      ${groups.map((group) => this.#row(group))}
    </ul>`;
  }

  #row({ terms, status, name, count, example }: Group) {
    const word = statusWord(status);
    return html`<li>
      <button type="button" class="group toolbar-button" aria-pressed=${hasTerms(this.filter, terms) ? 'true' : 'false'} title=${example} @click=${() => emit(this, 'filter-toggle', terms)}>
        <span class="group-count figures">${format.integer(count)}</span>
        <span class="tone-${word.tone}">${icon(word.icon)}<span class="hidden">${word.text}</span></span>
        <span class="group-name">${name}</span>
        <span class="group-example">${example}</span>
      </button>
    </li>`;
  }
}
