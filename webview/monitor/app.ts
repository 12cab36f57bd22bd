import * as l10n from '@vscode/l10n';
import { html } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import type { MonitorNotifications, MonitorRequests, MonitorState } from '../../src/protocol/monitor.js';
import { PageElement, icon } from '../element.js';
import * as format from '../format.js';
import { pageClient } from '../pageClient.js';
import '../page.css';
import './app.css';
import './usageChart.js';

/** Where the lines of the charts may lie. */
const ROUND = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const CORES = [...ROUND, 1000, 2000, 5000, 10_000].map((percent) => percent / 100);
const MEGABYTES = [...ROUND, ...ROUND.map((figure) => figure * 1024), 2 ** 20].map((figure) => figure * 2 ** 20);

/** Share of one core, as `top` says it: 200 % are two cores. */
const percent = (cores: number | null): string => (cores === null ? format.NONE : `${Math.round(cores * 100)} %`);
const bytes = (value: number | null): string => (value === null ? format.NONE : format.bytes(value));

@customElement('rl-monitor')
export class MonitorApp extends PageElement {
  @state() private shown?: MonitorState;
  @state() private failure = '';
  readonly #client = pageClient<MonitorRequests, MonitorNotifications>();

  override connectedCallback(): void {
    super.connectedCallback();
    this.#client.on('state', (state) => (this.shown = state));
    this.#client.request('ready', undefined).then(
      (state) => (this.shown = state),
      (error: unknown) => (this.failure = error instanceof Error ? error.message : String(error)),
    );
  }

  override render() {
    const { shown } = this;
    if (!shown) return html`<main class="page monitor">${this.failure ? html`<p class="notice" role="alert">${icon('error')} ${this.failure}</p>` : ''}</main>`;
    const { name, at, cpu, memory, pids, problem } = shown;
    return html`
      <main class="page monitor">
        <header>
          <h1>${name}</h1>
          <span class="figures">${l10n.t('{0} processes', pids === null ? format.NONE : format.integer(pids))}</span>
        </header>
        ${problem ? html`<p class="notice" role="status">${icon('info')} ${problem}</p>` : ''}
        <rl-usage-chart .heading=${l10n.t('Processor')} .at=${at} .values=${cpu} .format=${percent} .least=${0.1} .increments=${CORES}></rl-usage-chart>
        <rl-usage-chart .heading=${l10n.t('Memory')} .at=${at} .values=${memory} .format=${bytes} .least=${1 << 20} .increments=${MEGABYTES}></rl-usage-chart>
      </main>`;
  }
}
