import * as l10n from '@vscode/l10n';
import { html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { RunSnapshot } from '../../../src/protocol/runView.js';
import { PageElement, emit, icon } from '../../element.js';
import { componentBar } from './components.js';
import { timeBar } from './timeBar.js';
import '../../chart.css';
import './charts.css';
import './histogram.js';
import './passAtK.js';
import './seedSeries.js';
import './series.js';
import type { SeriesBy } from './seriesSwitch.js';

/** Why a chart of rewards has nothing to show. */
function emptyReason({ finished, run }: RunSnapshot): string {
  if (finished > 0) return l10n.t('No episode has a reward.');
  if (run.state === 'building') return l10n.t('Building the snapshot…');
  return run.state === 'running' ? l10n.t('No episode has finished yet.') : l10n.t('No episode has finished.');
}

/** Small pictures of the run, which can be folded away: three, and those that its samples and components give cause for. */
@customElement('rl-run-charts')
export class RunCharts extends PageElement {
  @property({ attribute: false }) snapshot!: RunSnapshot;
  @property({ attribute: false }) filter = '';
  @property({ attribute: false }) open = true;

  @state() private by: SeriesBy = 'finish';

  readonly #switch = ({ detail }: CustomEvent<SeriesBy>) => {
    this.by = detail;
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('.series-switch')?.focus());
  };

  override render() {
    const { histogram, series, bySeed, stats, time, finished, groups, components } = this.snapshot;
    const empty = emptyReason(this.snapshot);
    return html`
      <button type="button" class="fold toolbar-button" aria-expanded=${this.open ? 'true' : 'false'} aria-controls="charts" @click=${() => emit(this, 'charts-toggle', !this.open)}>
        ${icon(this.open ? 'chevron-down' : 'chevron-right')} ${l10n.t('Charts')}
      </button>
      <div id="charts" class="charts" ?hidden=${!this.open}>
        <rl-histogram class="chart" .histogram=${histogram} .mean=${stats.mean} .filter=${this.filter} .empty=${empty}></rl-histogram>
        ${this.by === 'seed'
          ? html`<rl-seed-series class="chart" .series=${bySeed} .empty=${empty} @series-by=${this.#switch}></rl-seed-series>`
          : html`<rl-reward-series class="chart" .series=${series} .empty=${empty} @series-by=${this.#switch}></rl-reward-series>`}
        <section class="chart chart-time">
          <div class="chart-head"><h2>${l10n.t('Where the time went')}</h2><span class="readout">${l10n.t('per episode')}</span></div>
          ${timeBar(time, Math.max(1, finished))}
        </section>
        ${groups ? html`<rl-pass-at-k class="chart" .groups=${groups}></rl-pass-at-k>` : nothing}
        ${components.length > 1
          ? html`<section class="chart chart-components">
              <div class="chart-head"><h2>${l10n.t('Components')}</h2><span class="readout">${l10n.t('share of the mean reward')}</span></div>
              ${componentBar(components)}
            </section>`
          : nothing}
      </div>`;
  }
}
