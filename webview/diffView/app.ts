import * as l10n from '@vscode/l10n';
import '@vscode-elements/elements/dist/vscode-progress-bar/index.js';
import { html, nothing } from 'lit';
import { customElement, query, state } from 'lit/decorators.js';
import type { ComparedRow, Side, TraceComparison, TraceDiffRequests } from '../../src/protocol/traceDiff.js';
import { PageElement, icon } from '../element.js';
import * as format from '../format.js';
import '../page.css';
import { pageClient } from '../pageClient.js';
import { RangeWindow } from '../rangeWindow.js';
import '../splitter.js';
import { oneLine } from '../text.js';
import '../traceView/app.css';
import { endWord } from '../traceView/words.js';
import { vscodeApi } from '../vscodeApi.js';
import './app.css';
import { type Deed, KEYS, deedOf } from './keys.js';
import type { DiffRows } from './rowList.js';
import './rowList.js';
import type { DiffSide } from './side.js';
import './side.js';
import { rowWord } from './words.js';

/** Both files may have to be gone through first, ms. */
const TIMEOUT_MS = 150_000;
/** What a person has to answer first may take this long, ms. */
const DIALOG_TIMEOUT_MS = 600_000;

interface ViewState {
  readonly row?: number;
  readonly actions: boolean;
  /** Share of the height that the list has. */
  readonly split: number;
}

function restored(): ViewState {
  const { row, actions, split } = (vscodeApi.getState() as { readonly view?: Partial<ViewState> } | undefined)?.view ?? {};
  return { ...(Number.isSafeInteger(row) && { row: row! }), actions: actions === true, split: typeof split === 'number' && split >= 0.15 && split <= 0.85 ? split : 0.4 };
}

/** Two traces side by side, aligned by their actions. Opens on the first difference. */
@customElement('rl-trace-diff')
export class TraceDiff extends PageElement {
  @state() private comparison?: TraceComparison;
  @state() private problem?: string;
  @state() private failure?: string;
  @state() private view: ViewState = restored();
  @state() private said = '';
  /** Increases when rows came. */
  @state() private revision = 0;
  @query('rl-diff-rows') private readonly list?: DiffRows;
  readonly #client = pageClient<TraceDiffRequests, Record<string, never>>();
  readonly #window = new RangeWindow<ComparedRow>({ requestUpdate: () => void this.revision++ }, async (start, count) => ({
    total: this.comparison?.rows ?? 0,
    start,
    rows: await this.#client.request('rows', { from: start, to: Math.min(this.comparison?.rows ?? 0, start + count) }),
  }));

  constructor() {
    super();
    const on = <T>(type: string, listener: (detail: T) => void) => this.addEventListener(type, (event) => listener((event as CustomEvent<T>).detail));
    on('redraw', () => this.querySelectorAll<DiffSide>('rl-diff-side').forEach((side) => side.requestUpdate()));
    on<number>('go', (row) => this.#go(row));
    on<number>('split', (split) => this.#set({ split }));
    on<TraceDiffRequests['open']['params']>('open-text', (place) => void this.#attempt(() => this.#client.request('open', place)));
    on<TraceDiffRequests['openTrace']['params']>('open-trace', (step) => void this.#attempt(() => this.#client.request('openTrace', step)));
    on<string>('browse', (url) => void this.#attempt(() => this.#client.request('browse', { url }, { timeoutMs: DIALOG_TIMEOUT_MS })));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#keep();
    document.addEventListener('keydown', this.#onKey);
    void this.#compare();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('keydown', this.#onKey);
  }

  #keep(): void {
    vscodeApi.setState({ traces: this.dataset['traces'] ?? '', view: this.view });
  }

  #set(change: Partial<ViewState>): void {
    this.view = { ...this.view, ...change };
    this.#keep();
  }

  async #compare(): Promise<void> {
    this.problem = undefined;
    try {
      this.comparison = await this.#client.request('comparison', undefined, { timeoutMs: TIMEOUT_MS });
      this.#window.invalidate();
      this.#go(this.view.row ?? this.comparison.first ?? 0);
      await this.updateComplete;
      this.list?.focusList();
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    }
  }

  get #selected(): number {
    return Math.max(0, Math.min(this.view.row ?? 0, (this.comparison?.rows ?? 0) - 1));
  }

  #go(row: number): void {
    const target = Math.max(0, Math.min(row, (this.comparison?.rows ?? 0) - 1));
    this.#set({ row: target });
    this.#window.want(target, target + 1);
  }

  readonly #onKey = (event: KeyboardEvent) => {
    const deed = deedOf(event);
    if (!deed || !this.comparison) return;
    event.preventDefault();
    void this.#do(deed);
  };

  async #do(deed: Deed): Promise<void> {
    const at = this.#selected;
    const page = this.list?.page ?? 1;
    switch (deed) {
      case 'next': return this.#go(at + 1);
      case 'previous': return this.#go(at - 1);
      case 'nextPage': return this.#go(at + page);
      case 'previousPage': return this.#go(at - page);
      case 'first': return this.#go(0);
      case 'last': return this.#go(Infinity);
      case 'nextDifference': return this.#toDifference(1);
      case 'previousDifference': return this.#toDifference(-1);
      case 'actions': return this.#set({ actions: !this.view.actions });
      case 'text': return this.#asTexts();
      case 'open': return this.#openTraces();
    }
  }

  async #toDifference(direction: 1 | -1): Promise<void> {
    await this.#attempt(async () => {
      const row = await this.#client.request('nextDifference', { from: this.#selected, direction, actions: this.view.actions });
      if (row !== null) this.#go(row);
      else this.#say(direction === 1 ? l10n.t('No difference after this step.') : l10n.t('No difference before this step.'));
    });
  }

  async #asTexts(): Promise<void> {
    const row = this.#window.at(this.#selected);
    if (row?.a === null || row?.b === null) this.#say(l10n.t('There is nothing to compare the step with.'));
    else if (row) await this.#attempt(() => this.#client.request('openDiff', { a: row.a!, b: row.b! }));
  }

  async #openTraces(): Promise<void> {
    const row = this.#window.at(this.#selected);
    for (const side of ['a', 'b'] as const) {
      const step = row?.[side] ?? null;
      if (step !== null) await this.#attempt(() => this.#client.request('openTrace', { side, step }));
    }
  }

  #say(text: string): void {
    // The same text again is said again.
    this.said = this.said === text ? `${text}\u00a0` : text;
  }

  async #attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.failure = undefined;
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
    }
  }

  readonly #loader = {
    step: (side: Side, step: number) => this.#client.request('step', { side, step }),
    blob: (side: Side, { blob: ref }: { readonly blob: string }) => this.#client.request('blob', { side, ref }),
  };

  override render() {
    const { comparison } = this;
    return html`<main class="page trace-view trace-diff">
      ${comparison || this.problem !== undefined ? nothing : html`<vscode-progress-bar indeterminate aria-label=${l10n.t('Comparing the traces')}></vscode-progress-bar>`}
      ${this.problem === undefined
        ? nothing
        : html`<div class="notice" role="alert">
            ${icon('error', 'tone-error')} <span>${l10n.t('Failed to compare the traces: {0}', this.problem)}</span>
            <button type="button" class="link" @click=${() => void this.#compare()}>${l10n.t('Retry')}</button>
          </div>`}
      ${comparison ? this.#content(comparison) : nothing}
    </main>`;
  }

  #content(comparison: TraceComparison) {
    const row = this.#window.at(this.#selected);
    const { split } = this.view;
    return html`
      <div class="diff-heads">${this.#head('a', comparison)} ${this.#head('b', comparison)}</div>
      ${this.failure === undefined
        ? nothing
        : html`<div class="notice" role="alert">${icon('error', 'tone-error')} <span>${this.failure}</span> <button type="button" class="link" @click=${() => (this.failure = undefined)}>${l10n.t('Dismiss')}</button></div>`}
      ${this.#bar(comparison)}
      <div class="split below">
        <rl-diff-rows .window=${this.#window} .selected=${this.#selected} .first=${comparison.first} .revision=${this.revision}></rl-diff-rows>
        <rl-splitter .label=${l10n.t('Size of the list of steps')} .split=${split} .beside=${false}></rl-splitter>
        <div class="diff-sides">
          <rl-diff-side .side=${'a'} .index=${row?.a} .loader=${this.#loader}></rl-diff-side>
          <rl-diff-side .side=${'b'} .index=${row?.b} .loader=${this.#loader}></rl-diff-side>
        </div>
      </div>
      <div class="foot"><span class="said" role="status">${this.said || (row ? rowWord(row) : '')}</span><span class="hints">${KEYS.filter(({ key }) => key !== undefined).map(({ key, does }) => html`<span><kbd>${key}</kbd> ${does()}</span>`)}</span></div>`;
  }

  #head(side: Side, { heads }: TraceComparison) {
    const head = heads[side];
    const end = endWord(head);
    return html`<div class="diff-head">
      <h1><span class="step-label">${side}</span> ${oneLine(head.title, 200)}</h1>
      <p class="figures">
        <span>${icon(end.icon, `tone-${end.tone}`)} ${end.text}</span>
        ${head.reward === undefined ? nothing : html`<span>${l10n.t('reward')} <strong>${head.reward === null ? format.NONE : format.edge(head.reward)}</strong></span>`}
        <span class="secondary">${head.steps === 1 ? l10n.t('1 step') : l10n.t('{0} steps', format.integer(head.steps))}</span>
      </p>
    </div>`;
  }

  #bar({ rows, different, first, firstAction, compared, heads }: TraceComparison) {
    const cut = compared.a < heads.a.steps || compared.b < heads.b.steps;
    const to = (row: number | null, name: string) => (row === null ? nothing : html`<button type="button" class="link" @click=${() => this.#go(row)}>${name}</button>`);
    const button = (deed: Deed, glyph: string, name: string, pressed?: boolean) =>
      html`<button type="button" class="toolbar-button" aria-label=${name} title=${name} aria-pressed=${pressed === undefined ? nothing : pressed ? 'true' : 'false'} @click=${() => void this.#do(deed)}>${icon(glyph)}</button>`;
    return html`<div class="diff-bar">
      <span>${different === 0 ? l10n.t('No step differs.') : l10n.t('{0} of {1} rows differ', format.integer(different), format.integer(rows))}</span>
      ${to(first, l10n.t('first difference'))} ${firstAction === first ? nothing : to(firstAction, l10n.t('first other action'))}
      ${cut ? html`<span class="tone-warning">${icon('warning')} ${l10n.t('Compared: {0} steps of a, {1} of b', format.integer(compared.a), format.integer(compared.b))}</span>` : nothing}
      <span class="diff-actions" role="toolbar" aria-label=${l10n.t('Differences')}>
        ${button('previousDifference', 'arrow-up', l10n.t('Previous difference (p)'))} ${button('nextDifference', 'arrow-down', l10n.t('Next difference (n)'))}
        ${button('actions', 'play', l10n.t('Only other actions (a)'), this.view.actions)} ${button('text', 'diff', l10n.t('Compare the two steps as texts (d)'))}
      </span>
    </div>`;
  }

  protected override updated(): void {
    this.querySelector<HTMLElement>('.split')?.style.setProperty('--split', String(this.view.split));
  }
}
