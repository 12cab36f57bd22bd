import * as l10n from '@vscode/l10n';
import '@vscode-elements/elements/dist/vscode-progress-bar/index.js';
import { html, nothing } from 'lit';
import { customElement, query, state } from 'lit/decorators.js';
import type { CompareViewNotifications, CompareViewRequests, PairKind, PairsQuery, RunComparison } from '../../src/protocol/compareView.js';
import { PageElement, icon } from '../element.js';
import * as format from '../format.js';
import '../page.css';
import '../chart.css';
import '../sortable.css';
import { pageClient } from '../pageClient.js';
import { oneLine } from '../text.js';
import { vscodeApi } from '../vscodeApi.js';
import './app.css';
import './deltaChart.js';
import './distributions.js';
import type { PairOrder, PairTable } from './pairTable.js';
import './pairTable.js';
import { differenceSentence, isExpected, kindWord, probability, testDescription } from './words.js';

const KINDS: readonly PairKind[] = ['better', 'same', 'worse', 'unpaired'];
/** All seeds of two runs may have to be read first, ms. */
const TIMEOUT_MS = 120_000;
const WORST_FIRST: PairOrder = { sort: 'delta', descending: false };

function restoredOrder(): PairOrder {
  const kept = vscodeApi.getState() as { readonly order?: Partial<PairOrder> } | undefined;
  const { kind, sort, descending } = kept?.order ?? {};
  if (!(['seed', 'a', 'b', 'delta'] as const).includes(sort as 'a')) return WORST_FIRST;
  return { ...(KINDS.includes(kind!) && { kind }), sort: sort!, descending: descending === true };
}

/** Two runs over the same seeds: by how much they differ, whether that could be chance, and where. */
@customElement('rl-compare-view')
export class CompareView extends PageElement {
  @state() private comparison?: RunComparison;
  @state() private problem?: string;
  /** Why the last thing that was asked for did not happen. */
  @state() private failure?: string;
  @state() private order: PairOrder = restoredOrder();
  @query('rl-pair-table') private readonly table?: PairTable;
  readonly #client = pageClient<CompareViewRequests, CompareViewNotifications>();
  #busy = false;
  #stale = false;

  constructor() {
    super();
    const on = <T>(type: string, listener: (detail: T) => void) => this.addEventListener(type, (event) => listener((event as CustomEvent<T>).detail));
    on<Pick<PairOrder, 'sort' | 'descending'>>('pair-sort', (order) => this.#set({ ...this.order, ...order }));
    on<CompareViewRequests['openEpisodes']['params']>('pair-open', (episodes) => void this.#attempt(() => this.#client.request('openEpisodes', episodes)));
    on<number>('rank', (rank) => {
      this.#set(WORST_FIRST);
      this.table?.showWhenThere(rank);
    });
    this.#client.on('changed', () => void this.#refresh());
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#keep();
    document.addEventListener('visibilitychange', this.#onVisibility);
    void this.#refresh();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('visibilitychange', this.#onVisibility);
  }

  readonly #onVisibility = () => {
    if (!document.hidden && this.#stale) void this.#refresh();
  };

  #keep(): void {
    vscodeApi.setState({ runs: this.dataset['runs'] ?? '', order: this.order });
  }

  #set(order: PairOrder): void {
    this.order = order;
    this.#keep();
  }

  async #refresh(): Promise<void> {
    this.#stale = true;
    if (this.#busy || document.hidden) return;
    this.#busy = true;
    this.#stale = false;
    try {
      this.comparison = await this.#client.request('comparison', undefined, { timeoutMs: TIMEOUT_MS });
      this.problem = undefined;
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.#busy = false;
      if (this.#stale) void this.#refresh();
    }
  }

  async #attempt(request: () => Promise<unknown>): Promise<void> {
    try {
      await request();
      this.failure = undefined;
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
    }
  }

  readonly #load = (query: PairsQuery) => this.#client.request('pairs', query);

  override render() {
    const { comparison } = this;
    return html`<main class="page compare-view">
      ${comparison || this.problem !== undefined ? nothing : html`<vscode-progress-bar indeterminate aria-label=${l10n.t('Comparing the runs')}></vscode-progress-bar>`}
      ${this.problem === undefined
        ? nothing
        : html`<div class="notice" role="alert">
            ${icon('error', 'tone-error')} <span>${l10n.t('Failed to compare the runs: {0}', this.problem)}</span>
            <button type="button" class="link" @click=${() => void this.#refresh()}>${l10n.t('Retry')}</button>
          </div>`}
      ${comparison ? this.#content(comparison) : nothing}
    </main>`;
  }

  #content(comparison: RunComparison) {
    return html`
      ${this.#header(comparison)}
      ${this.failure === undefined
        ? nothing
        : html`<div class="notice" role="alert">
            ${icon('error', 'tone-error')} <span>${this.failure}</span>
            <button type="button" class="link" @click=${() => (this.failure = undefined)}>${l10n.t('Dismiss')}</button>
          </div>`}
      ${comparison.differences.map((difference) => html`<p class="difference">${isExpected(difference) ? icon('info') : icon('warning', 'tone-warning')} <span>${differenceSentence(difference)}</span></p>`)}
      ${this.#figures(comparison)}
      <div class="compare-charts">
        <rl-delta-chart class="chart" .comparison=${comparison}></rl-delta-chart>
        <rl-distributions class="chart" .comparison=${comparison}></rl-distributions>
      </div>
      <rl-pair-table .comparison=${comparison} .order=${this.order} .load=${this.#load}></rl-pair-table>`;
  }

  #header({ runs: { a, b } }: RunComparison) {
    const same = a.template === b.template;
    const run = (which: 'a' | 'b') => {
      const { template, number, policy } = which === 'a' ? a : b;
      return html`<div class="compared-run">
        <span class="swatch-${which}" aria-hidden="true"></span> <span>${which}</span>
        <button type="button" class="link" title=${l10n.t('Open the run')} @click=${() => void this.#attempt(() => this.#client.request('openRun', { which }))}>${same ? '' : `${oneLine(template, 60)} `}${l10n.t('run #{0}', number)}</button>
        <span class="run-policy" title=${l10n.t('Policy')}>${oneLine(policy, 40)}</span>
      </div>`;
    };
    return html`<header class="compare-head">
      <h1>${same ? oneLine(a.template, 100) : l10n.t('{0} and {1}', oneLine(a.template, 60), oneLine(b.template, 60))}</h1>
      ${run('a')} ${run('b')}
      <button type="button" class="toolbar-button compare-swap" title=${l10n.t('Exchange a and b')} @click=${() => void this.#attempt(() => this.#client.request('swap', undefined))}>${icon('arrow-swap')} ${l10n.t('Swap')}</button>
    </header>`;
  }

  #figures({ mean, ci95, std, test, a, b, pairs, ...counts }: RunComparison) {
    const figure = (name: string, value: string, description = '') => html`<div><dt title=${description}>${name}</dt><dd class="figures">${value}</dd></div>`;
    const { onlyA, onlyB, unscored } = counts.left;
    const of: Record<PairKind, number> = { better: counts.better, same: counts.same, worse: counts.worse, unpaired: onlyA + onlyB + unscored };
    return html`<section class="compare-figures" aria-label=${l10n.t('Figures')}>
      <dl class="verdict">
        <div class="main-figure">
          <dt title=${l10n.t('Mean difference over seeds and half width of its 95 % interval, by Student’s t')}>${l10n.t('b − a')}</dt>
          <dd class="figures">${mean !== null && mean > 0 ? '+' : ''}${format.estimate(mean, ci95)}</dd>
        </div>
        <div class="main-figure">
          <dt title=${test ? testDescription(test) : ''}>p</dt>
          <dd class="figures">${test ? probability(test) : format.NONE}</dd>
        </div>
        ${figure(l10n.t('mean of a'), format.reward(a.mean))} ${figure(l10n.t('mean of b'), format.reward(b.mean))}
        ${figure(l10n.t('std'), format.reward(std), l10n.t('Sample standard deviation of the differences'))}
        ${figure(l10n.t('pairs'), format.integer(pairs), l10n.t('Seeds with a reward in both runs'))}
      </dl>
      <div class="kinds" role="group" aria-label=${l10n.t('Seeds by what became of them')}>
        ${KINDS.filter((kind) => kind !== 'unpaired' || of.unpaired > 0).map((kind) => this.#kind(kind, of[kind]))}
        ${of.unpaired > 0 ? html`<span class="left-out">${[onlyA > 0 && l10n.t('{0} only in a', onlyA), onlyB > 0 && l10n.t('{0} only in b', onlyB), unscored > 0 && l10n.t('{0} without a reward', unscored)].filter(Boolean).join(', ')}</span>` : nothing}
      </div>
    </section>`;
  }

  #kind(kind: PairKind, count: number) {
    const { text, icon: glyph, tone } = kindWord(kind);
    const pressed = this.order.kind === kind;
    return html`<button
      type="button"
      class="toolbar-button"
      data-kind=${kind}
      aria-pressed=${pressed ? 'true' : 'false'}
      title=${l10n.t('Show only these seeds')}
      @click=${() => this.#set({ sort: this.order.sort, descending: this.order.descending, ...(!pressed && { kind }) })}
    >
      <span class="tone-${tone}">${icon(glyph)}</span> <span class="figures">${format.integer(count)}</span> ${text}
    </button>`;
  }
}
