import * as l10n from '@vscode/l10n';
import { html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { RunSnapshot } from '../../../src/protocol/runView.js';
import { PageElement, emit, icon } from '../../element.js';
import { timeBar } from './timeBar.js';
import './charts.css';
import './histogram.js';
import './series.js';

/** Why a chart of rewards has nothing to show. */
function emptyReason({ finished, run }: RunSnapshot): string {
  if (finished > 0) return l10n.t('No episode has a reward.');
  if (run.state === 'building') return l10n.t('Building the snapshot…');
  return run.state === 'running' ? l10n.t('No episode has finished yet.') : l10n.t('No episode has finished.');
}

/** Three small pictures of the run, which can be folded away. */
@customElement('rl-run-charts')
export class RunCharts extends PageElement {
  @property({ attribute: false }) snapshot!: RunSnapshot;
  @property({ attribute: false }) filter = '';
  @property({ attribute: false }) open = true;

  override render() {
    const { histogram, series, stats, time, finished } = this.snapshot;
    const empty = emptyReason(this.snapshot);
    return html`
      <button type="button" class="fold toolbar-button" aria-expanded=${this.open ? 'true' : 'false'} aria-controls="charts" @click=${() => emit(this, 'charts-toggle', !this.open)}>
        ${icon(this.open ? 'chevron-down' : 'chevron-right')} ${l10n.t('Charts')}
      </button>
      <div id="charts" class="charts" ?hidden=${!this.open}>
        <rl-histogram class="chart" .histogram=${histogram} .mean=${stats.mean} .filter=${this.filter} .empty=${empty}></rl-histogram>
        <rl-reward-series class="chart" .series=${series} .empty=${empty}></rl-reward-series>
        <section class="chart chart-time">
          <div class="chart-head"><h2>${l10n.t('Where the time went')}</h2><span class="readout">${l10n.t('per episode')}</span></div>
          ${timeBar(time, Math.max(1, finished))}
        </section>
      </div>`;
  }
}
