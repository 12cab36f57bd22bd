import * as l10n from '@vscode/l10n';
import '@vscode-elements/elements/dist/vscode-progress-bar/index.js';
import { html, nothing } from 'lit';
import { customElement, query, state } from 'lit/decorators.js';
import type { GroupsQuery, RunSnapshot, RunViewRequests, RunViewTarget } from '../../src/protocol/runView.js';
import { PageElement, icon } from '../element.js';
import * as format from '../format.js';
import { pageClient } from '../pageClient.js';
import '../splitter.js';
import { oneLine } from '../text.js';
import type { ActionName } from './actions.js';
import '../page.css';
import './app.css';
import './charts/charts.js';
import './filterBar.js';
import { toggleTerms } from './filterTerms.js';
import type { EpisodeGrid } from './grid/episodeGrid.js';
import './grid/episodeGrid.js';
import { ROW_HEIGHT } from './grid/rowPool.js';
import { RowSource } from './grid/rowSource.js';
import './groups.js';
import './header.js';
import './seedGroups.js';
import type { EpisodePane } from './pane/episodePane.js';
import './pane/episodePane.js';
import { RunModel, type RunViewClient } from './runModel.js';
import './summary.js';
import { type ViewState, keepState, restoreState } from './viewState.js';
import { capSentence, findingSentence, waitsSentence } from './words.js';

/** From this width on, px, the pane is beside the table. */
const WIDE = '(min-width: 1000px)';
/** An action may wait for a person, as a save dialog does, ms. */
const ACTION_TIMEOUT_MS = 600_000;
/** A film comes over the network, where VS Code does, ms. */
const ARTIFACT_TIMEOUT_MS = 60_000;
const TYPING_MS = 150;
const FOLLOWING_MS = 120;

const orderOf = ({ filter, sort, descending }: ViewState) => ({ filter, sort, descending });

type OpenParams = RunViewRequests['open']['params'];

/** The run view: keeps where the reader is, and passes what the parts ask for to the extension. */
@customElement('rl-run-view')
export class RunView extends PageElement {
  @state() private view: ViewState = restoreState();
  /** Episodes that were chosen to do something with. */
  @state() private marked: ReadonlySet<number> = new Set();
  @state() private pending: ReadonlySet<ActionName> = new Set();
  /** Why the last thing that was asked for did not happen. */
  @state() private failure?: string;
  @query('rl-episode-grid') private readonly grid?: EpisodeGrid;
  @query('rl-episode-pane') private readonly pane?: EpisodePane;
  readonly #client: RunViewClient = pageClient();
  readonly #model = new RunModel(this, this.#client, { onSnapshot: (...changed) => this.#onSnapshot(...changed), onShow: (target) => this.#show(target) });
  readonly #rows = new RowSource((query, signal) => this.#client.request('rows', query, { signal }), orderOf(this.view), () => {
    this.grid?.requestUpdate();
    // Most answers are rows and nothing else, which concerns the table alone.
    const { total, loaded, filterError, problem } = this.#rows;
    const told = JSON.stringify([total, loaded, filterError, problem]);
    if (told !== this.#told) this.requestUpdate();
    this.#told = told;
  });
  /** Where the reader was in the table, px, until that is another one. */
  #top = this.view.scrollTop;
  /** What the page shows of the table's state. */
  #told = '';
  readonly #wide = matchMedia(WIDE);
  #clock?: ReturnType<typeof setInterval>;
  #typing?: ReturnType<typeof setTimeout>;
  #following?: ReturnType<typeof setTimeout>;
  #keeping?: ReturnType<typeof setTimeout>;

  constructor() {
    super();
    const on = <T>(type: string, listener: (detail: T) => void) => this.addEventListener(type, (event) => listener((event as CustomEvent<T>).detail));
    on<ActionName>('run-action', (action) => void this.#act(action));
    on<readonly string[]>('filter-toggle', (terms) => this.#filterBy(toggleTerms(this.view.filter, terms)));
    on<string>('filter-input', (filter) => {
      this.#set({ filter });
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.#filterBy(filter), TYPING_MS);
    });
    on<ViewState['grouping']>('grouping', (grouping) => this.#set({ grouping }));
    on<boolean>('charts-toggle', (charts) => this.#set({ charts }));
    on<Pick<ViewState, 'sort' | 'descending'>>('grid-sort', (order) => {
      this.#set(order);
      this.#reorder();
    });
    on<ReadonlySet<number>>('grid-mark', (marked) => (this.marked = marked));
    on('selection-clear', () => {
      this.marked = new Set();
      this.grid?.focusCursor();
    });
    on('selection-export', () => void this.#act('export'));
    on('selection-compare', () => {
      const [a, b] = [...this.marked];
      void this.#attempt(() => this.#client.request('compareEpisodes', { a: a!, b: b! }));
    });
    on<number>('grid-scroll', (scrollTop) => this.#set({ scrollTop }));
    on<number>('grid-cursor', (episode) => this.#follow(episode));
    on<{ episode: number; focus: boolean }>('grid-open', ({ episode, focus }) => void this.#open(episode, focus));
    on<OpenParams>('episode-open', (what) => void this.#attempt(() => this.#client.request('open', what)));
    on<RunViewRequests['compareArtifact']['params']>('artifact-compare', (artifact) => void this.#attempt(() => this.#client.request('compareArtifact', artifact, { timeoutMs: ACTION_TIMEOUT_MS })));
    on<RunViewRequests['saveArtifacts']['params']>('artifacts-save', (episode) => void this.#attempt(() => this.#client.request('saveArtifacts', episode, { timeoutMs: ACTION_TIMEOUT_MS })));
    on<ViewState['tab']>('pane-tab', (tab) => this.#set({ tab }));
    on<number>('split', (split) => this.#set({ split }));
    on('pane-leave', () => this.grid?.focusCursor());
    on('pane-close', () => {
      this.#set({ selected: undefined });
      this.grid?.focusCursor();
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // Right after the model has asked for the run, so that both come at once.
    this.#loadRows();
    // A window that is reloaded may tell the page nothing: what finds the run again is kept from the start.
    this.#keep();
    this.#wide.addEventListener('change', this.#onResize);
    window.addEventListener('pagehide', this.#keep);
    this.#clock = setInterval(() => this.#model.snapshot?.run.state === 'running' && this.requestUpdate(), 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#wide.removeEventListener('change', this.#onResize);
    window.removeEventListener('pagehide', this.#keep);
    clearInterval(this.#clock);
    for (const timer of [this.#typing, this.#following, this.#keeping]) clearTimeout(timer);
    this.#rows.dispose();
  }

  readonly #onResize = () => this.requestUpdate();
  readonly #keep = () => keepState(this.dataset['run'] ?? '', this.view);

  #set(change: Partial<ViewState>): void {
    this.view = { ...this.view, ...change };
    this.#keeping ??= setTimeout(() => {
      this.#keeping = undefined;
      this.#keep();
    }, 200);
  }

  #onSnapshot({ finished, run }: RunSnapshot, grown: number): void {
    if (this.#rows.loaded) {
      // Where a seed has several samples, each that finishes changes the advantages of those before it.
      if (run.samples === 1 && this.#rows.grow(finished)) return;
      void this.grid?.renew(grown);
      return;
    }
    if (!this.#rows.renewing) this.#loadRows();
  }

  /** The first rows: those where the reader was. */
  #loadRows(): void {
    const { scrollTop } = this.view;
    const first = Math.floor(scrollTop / ROW_HEIGHT);
    void this.#rows.renew(first, first + Math.ceil(innerHeight / ROW_HEIGHT));
  }

  #show({ episode, filter }: RunViewTarget): void {
    if (filter !== undefined) this.#filterBy(filter);
    if (episode !== undefined) void this.#open(episode, false);
  }

  #filterBy(filter: string): void {
    clearTimeout(this.#typing);
    this.#set({ filter });
    this.#reorder();
  }

  #reorder(): void {
    const order = orderOf(this.view);
    this.#top = 0;
    if (this.grid) void this.grid.reorder(order);
    else void this.#rows.reorder(order, Math.ceil(innerHeight / ROW_HEIGHT));
  }

  /** While the pane is open, it shows the episode that the cursor has come to rest on. */
  #follow(episode: number): void {
    clearTimeout(this.#following);
    if (this.view.selected !== undefined) this.#following = setTimeout(() => this.#set({ selected: episode }), FOLLOWING_MS);
  }

  async #open(episode: number, focus: boolean): Promise<void> {
    clearTimeout(this.#following);
    this.#set({ selected: episode });
    const focused = document.activeElement;
    await this.updateComplete;
    // Where the page is too small for all of it, the pane may be out of sight.
    this.pane?.scrollIntoView({ block: 'nearest' });
    if (focus) this.pane?.focusTab(focused);
  }

  async #act(action: ActionName): Promise<void> {
    if (this.pending.has(action)) return;
    this.pending = new Set([...this.pending, action]);
    await this.#attempt(() => (action === 'export' ? this.#export() : this.#client.request('action', { action }, { timeoutMs: ACTION_TIMEOUT_MS })));
    this.pending = new Set([...this.pending].filter((other) => other !== action));
  }

  #export(): Promise<null> {
    const { filter } = this.view;
    const selection = this.marked.size > 0 ? { episodes: [...this.marked] } : filter.trim() === '' ? {} : { where: filter };
    return this.#client.request('export', selection, { timeoutMs: ACTION_TIMEOUT_MS });
  }

  async #attempt(request: () => Promise<unknown>): Promise<void> {
    try {
      await request();
      this.failure = undefined;
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
    }
  }

  override render() {
    const { snapshot, problem } = this.#model;
    if (!snapshot) return html`<main class="page run-view">${problem === undefined ? html`<vscode-progress-bar aria-label=${l10n.t('Loading the run')}></vscode-progress-bar>` : this.#problemNotice(problem)}</main>`;
    const { filter, grouping, charts } = this.view;
    return html`<main class="page run-view">
      ${this.#progress(snapshot)}
      <rl-run-header .snapshot=${snapshot} .trusted=${this.#model.trusted} .pending=${this.pending} .durationMs=${this.#duration(snapshot)}></rl-run-header>
      ${this.#notices(snapshot)}
      ${this.#findings(snapshot)}
      <rl-run-summary .snapshot=${snapshot} .filter=${filter}></rl-run-summary>
      <rl-run-charts .snapshot=${snapshot} .filter=${filter} .open=${charts}></rl-run-charts>
      <rl-filter-bar .filter=${filter} .filterError=${this.#rows.filterError} .grouping=${grouping} .samples=${snapshot.run.samples} .marked=${this.marked.size} .count=${this.#count(snapshot)}></rl-filter-bar>
      ${grouping === 'seed' && snapshot.groups
        ? html`<rl-seed-groups .snapshot=${snapshot} .filter=${filter} .load=${this.#loadGroups}></rl-seed-groups>`
        : html`<rl-run-groups .snapshot=${snapshot} .grouping=${grouping} .filter=${filter}></rl-run-groups>`}
      ${this.#split(snapshot)}
    </main>`;
  }

  #split(snapshot: RunSnapshot) {
    const { selected, sort, descending, split, tab } = this.view;
    const beside = this.#wide.matches;
    return html`<div class="split ${selected === undefined ? '' : beside ? 'beside' : 'below'}">
      <rl-episode-grid
        .source=${this.#rows}
        .samples=${snapshot.run.samples}
        .decimals=${format.rewardDecimals(snapshot.stats)}
        .sort=${sort}
        .descending=${descending}
        .selected=${selected}
        .marked=${this.marked}
        .top=${this.#top}
        .empty=${this.#emptyTable(snapshot)}
      ></rl-episode-grid>
      ${selected === undefined
        ? nothing
        : html`<rl-splitter .label=${l10n.t('Size of the episode pane')} .split=${split} .beside=${beside}></rl-splitter>
            <rl-episode-pane .episode=${selected} .tab=${tab} .load=${this.#loadEpisode} .loadArtifact=${this.#loadArtifact}></rl-episode-pane>`}
    </div>`;
  }

  readonly #loadGroups = (query: GroupsQuery) => this.#client.request('groups', query);
  readonly #loadEpisode = (episode: number, signal: AbortSignal) => this.#client.request('episode', { episode }, { signal });

  readonly #loadArtifact = (episode: number, artifact: string, signal: AbortSignal) => this.#client.request('artifact', { episode, artifact }, { signal, timeoutMs: ARTIFACT_TIMEOUT_MS });

  protected override updated(): void {
    const box = this.querySelector<HTMLElement>('.split');
    if (!box || box.dataset['split'] === String(this.view.split)) return;
    box.dataset['split'] = String(this.view.split);
    box.style.setProperty('--split', box.dataset['split']);
  }

  protected override async getUpdateComplete(): Promise<boolean> {
    const complete = await super.getUpdateComplete();
    await this.grid?.updateComplete;
    return complete;
  }

  #duration({ run, durationMs }: RunSnapshot): number {
    return run.state === 'running' ? durationMs + performance.now() - this.#model.receivedAt : durationMs;
  }

  #progress({ run, finished }: RunSnapshot) {
    if (run.state === 'building') return html`<vscode-progress-bar indeterminate aria-label=${l10n.t('Building the snapshot')}></vscode-progress-bar>`;
    if (run.state !== 'running') return html`<div class="no-progress"></div>`;
    return html`<vscode-progress-bar .value=${finished} .max=${Math.max(1, run.total)} aria-label=${l10n.t('Episodes finished')}></vscode-progress-bar>`;
  }

  #notices({ run, waits }: RunSnapshot) {
    const rowsProblem = this.#rows.problem;
    return html`
      ${run.state === 'building' ? html`<div class="notice">${icon('tools')} <span>${l10n.t('Building the snapshot…')}</span></div>` : nothing}
      ${waits ? html`<div class="notice">${waits.refused ? icon('warning', 'tone-warning') : icon('watch')} <span>${waitsSentence(waits)}</span></div>` : nothing}
      ${run.stopped?.by === 'max_cost' ? html`<div class="notice">${icon('warning', 'tone-warning')} <span>${capSentence(run)}</span></div>` : nothing}
      ${run.error === undefined || run.stopped ? nothing : html`<div class="notice">${icon('error', 'tone-error')} <span>${oneLine(run.error, 2000)}</span></div>`}
      ${this.failure === undefined
        ? nothing
        : html`<div class="notice" role="alert">
            ${icon('error', 'tone-error')} <span>${this.failure}</span>
            <button type="button" class="link" @click=${() => (this.failure = undefined)}>${l10n.t('Dismiss')}</button>
          </div>`}
      ${this.#model.problem === undefined ? nothing : this.#problemNotice(this.#model.problem)}
      ${rowsProblem === undefined || this.#model.problem !== undefined
        ? nothing
        : html`<div class="notice" role="alert">
            ${icon('error', 'tone-error')} <span>${l10n.t('Failed to read the episodes: {0}', rowsProblem)}</span>
            <button type="button" class="link" @click=${() => void this.grid?.renew(0)}>${l10n.t('Retry')}</button>
          </div>`}`;
  }

  #findings({ findings }: RunSnapshot) {
    if (findings.length === 0) return nothing;
    return html`<details class="findings" open>
      <summary>${findings.length === 1 ? l10n.t('1 finding') : l10n.t('{0} findings', findings.length)}</summary>
      <ul>${findings.map((finding) => html`<li>${icon('lightbulb', 'tone-warning')} <span>${findingSentence(finding)}</span></li>`)}</ul>
    </details>`;
  }

  #problemNotice(problem: string) {
    return html`<div class="notice" role="alert">
      ${icon('error', 'tone-error')} <span>${l10n.t('Failed to read the run: {0}', problem)}</span>
      <button type="button" class="link" @click=${() => void this.#model.refresh()}>${l10n.t('Retry')}</button>
    </div>`;
  }

  #count({ finished }: RunSnapshot): string {
    if (!this.#rows.loaded) return '';
    const { total } = this.#rows;
    const all = format.integer(finished);
    if (this.#rows.order.filter.trim() !== '') return l10n.t('{0} of {1} episodes', format.integer(total), all);
    return total === 1 ? l10n.t('1 episode') : l10n.t('{0} episodes', format.integer(total));
  }

  #emptyTable({ run, finished }: RunSnapshot): string {
    if (this.#rows.filterError !== undefined) return l10n.t('The filter was not understood.');
    if (finished > 0) return l10n.t('No episode matches the filter.');
    if (run.state === 'building') return l10n.t('Episodes start when the snapshot is there.');
    return run.state === 'running' ? l10n.t('No episode has finished yet.') : l10n.t('No episode has finished.');
  }
}
