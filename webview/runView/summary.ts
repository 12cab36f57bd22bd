import * as l10n from '@vscode/l10n';
import { html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { RunSnapshot } from '../../src/protocol/runView.js';
import { PageElement, emit, icon } from '../element.js';
import * as format from '../format.js';
import { hasTerms } from './filterTerms.js';
import { STATUSES, statusWord } from './words.js';
import './summary.css';

/** Counts by status, each a filter, and the statistics of the rewards. */
@customElement('rl-run-summary')
export class RunSummary extends PageElement {
  @property({ attribute: false }) snapshot!: RunSnapshot;
  @property({ attribute: false }) filter = '';

  override render() {
    const { stats, counts, run, running, finished, episodesPerSecond } = this.snapshot;
    const decimals = format.rewardDecimals(stats);
    const figure = (name: string, value: string, description = '') => html`<div><dt title=${description}>${name}</dt><dd class="figures">${value}</dd></div>`;
    return html`
      <div class="counts" role="group" aria-label=${l10n.t('Episodes by status')}>
        <span class="count-total figures">${format.integer(finished)}<span class="of"> / ${format.integer(run.total)}</span></span>
        ${STATUSES.filter((status) => counts[status] > 0 || status === 'completed').map((status) => this.#count(status))}
        ${running > 0 ? html`<span class="count tone-active">${icon('play-circle')} <span class="figures">${format.integer(running)}</span> ${l10n.t('running')}</span>` : nothing}
        ${run.state === 'running' && episodesPerSecond !== null ? html`<span class="count"><span class="figures">${episodesPerSecond.toFixed(episodesPerSecond < 10 ? 1 : 0)}</span> ${l10n.t('per second')}</span>` : nothing}
      </div>
      <dl class="stats" aria-label=${l10n.t('Rewards')}>
        <div class="stat-mean">
          <dt title=${l10n.t('Mean and half width of its 95 % interval')}>${l10n.t('mean')}</dt>
          <dd class="figures">${format.estimate(stats.mean, stats.ci95)}</dd>
        </div>
        ${figure(l10n.t('std'), format.reward(stats.std), l10n.t('Sample standard deviation'))}
        ${figure(l10n.t('min'), format.reward(stats.min, decimals))}
        ${figure(l10n.t('median'), format.reward(stats.median, decimals))}
        ${figure(l10n.t('max'), format.reward(stats.max, decimals))}
        <div class="scored">
          <dt class="hidden">${l10n.t('episodes')}</dt>
          <dd class="figures">
            ${l10n.t('{0} scored', format.integer(stats.scored))} \u00b7
            <button
              type="button"
              class="toolbar-button unscored ${stats.unscored > 0 ? 'tone-warning' : ''}"
              aria-pressed=${hasTerms(this.filter, ['reward:none']) ? 'true' : 'false'}
              title=${l10n.t('Show only episodes without a reward')}
              @click=${() => emit(this, 'filter-toggle', ['reward:none'])}
            >
              ${l10n.t('{0} without reward', format.integer(stats.unscored))}
            </button>
          </dd>
        </div>
      </dl>`;
  }

  #count(status: (typeof STATUSES)[number]) {
    const { text, icon: glyph, tone } = statusWord(status);
    const terms = [`status:${status}`];
    return html`<button
      type="button"
      class="count toolbar-button"
      data-status=${status}
      aria-pressed=${hasTerms(this.filter, terms) ? 'true' : 'false'}
      title=${l10n.t('Show only episodes with the status {0}', text)}
      @click=${() => emit(this, 'filter-toggle', terms)}
    >
      <span class="tone-${tone}">${icon(glyph)}</span> <span class="figures">${format.integer(this.snapshot.counts[status])}</span> ${text}
    </button>`;
  }
}
