import * as l10n from '@vscode/l10n';
import '@vscode-elements/elements/dist/vscode-progress-bar/index.js';
import { html, nothing } from 'lit';
import { customElement, query, state } from 'lit/decorators.js';
import { type BlobRef, MOST_BINS, type SearchHit, type StepDetail, type TraceViewCommand, type TraceViewRequests, type TraceViewTarget } from '../../src/protocol/traceView.js';
import { PageElement, icon } from '../element.js';
import * as format from '../format.js';
import { pageClient } from '../pageClient.js';
import '../page.css';
import '../splitter.js';
import { oneLine } from '../text.js';
import './app.css';
import { asCurl, asPython, callUrl, stepMarkdown } from './copy.js';
import './dialogs.js';
import './header.js';
import { type Deed, deedOf, isFind } from './keys.js';
import type { StepList } from './list/stepList.js';
import './list/stepList.js';
import { Player } from './player.js';
import type { SearchPanel } from './search/searchPanel.js';
import './search/searchPanel.js';
import type { StepPane } from './step/stepPane.js';
import './step/stepPane.js';
import { over, out } from './stepping.js';
import { StepSource } from './stepSource.js';
import './timeline/timeline.js';
import { TraceModel, type TraceViewClient, message } from './traceModel.js';
import { SPEEDS, type ViewState, keepState, newerState, restoreState } from './viewState.js';

/** From this width on, px, the step is beside the list. */
const WIDE = '(min-width: 720px)';
/** What a person has to answer first may take this long, ms. */
const DIALOG_TIMEOUT_MS = 600_000;
const SEARCH_TIMEOUT_MS = 600_000;
const BLOBS_KEPT = 24;
/** The page sees the key for a search before VS Code does, which then asks for the same; so much later, ms, that no longer opens a search that was closed. */
const FIND_ECHO_MS = 3000;

type Dialog = 'keys' | 'goTo';

/** The trace view: keeps where the reader is, and passes what the parts ask for to the extension. */
@customElement('rl-trace-view')
export class TraceView extends PageElement {
  @state() private view: ViewState = restoreState();
  @state() private failure?: string;
  @state() private said = '';
  @state() private dialog?: Dialog;
  /** Increases when the trace grew, or became another one. */
  @state() private revision = 0;
  @state() private playing = false;
  @query('rl-step-list') private readonly list?: StepList;
  @query('rl-step-pane') private readonly pane?: StepPane;
  @query('rl-search') private readonly searchPanel?: SearchPanel;
  readonly #client: TraceViewClient = pageClient();
  readonly #model = new TraceModel(this, this.#client, { onOpened: (...opened) => this.#onOpened(...opened), onGrown: (from) => this.#onGrown(from) });
  readonly #source = new StepSource((from, to, signal) => this.#client.request('summaries', { from, to }, { signal }), () => this.requestUpdate());
  readonly #player = new Player((goesOn) => this.#playOn(goesOn), () => (this.playing = this.#player.playing));
  readonly #wide = matchMedia(WIDE);
  readonly #blobs = new Map<string, Promise<Uint8Array>>();
  #onHits: ((hits: readonly SearchHit[]) => void) | undefined;
  #search = 0;
  /** The trace is there, and so is what was kept of the reader's place. */
  #opened = false;
  #findAt = -Infinity;
  /** Whether the reader stays at the end as it moves. */
  #following = false;

  constructor() {
    super();
    const on = <T>(type: string, listener: (detail: T) => void) => this.addEventListener(type, (event) => listener((event as CustomEvent<T>).detail));
    on<number>('go', (step) => this.#go(step));
    // The neighbours are likely next.
    on<number>('step-shown', (step) => [step + 1, step - 1].forEach((near) => near >= 0 && near < this.#total && void this.#model.step(near).catch(() => undefined)));
    on<number>('split', (split) => this.#set({ split }));
    on<number>('member', (member) => void this.#openMember(member));
    on<string>('find', (find) => this.#set({ find }));
    on('search-close', () => this.#closeSearch());
    on('dialog-close', () => (this.dialog = undefined));
    on('step-raw', () => this.#set({ raw: !this.view.raw }));
    on<'step' | 'curl' | 'python'>('step-copy', (what) => void this.#copy(what));
    on('step-link', () => void this.#copyLink());
    on<'sandbox' | 'fork'>('step-travel', (to) => void this.#travel(to));
    on<{ place: readonly (string | number)[] } | { raw: true }>('step-open', (what) => void this.#attempt(() => this.#client.request('open', { step: this.#selected, ...what }, { timeoutMs: DIALOG_TIMEOUT_MS })));
    on<string>('browse', (url) => void this.#attempt(() => this.#client.request('browse', { url }, { timeoutMs: DIALOG_TIMEOUT_MS })));
    this.#client.on('hits', ({ search, hits }) => search === this.#search && this.#onHits?.(hits));
    this.#client.on('show', (target) => target.step !== undefined && this.#go(target.step));
    this.#client.on('command', ({ command }) => void this.#command(command));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#wide.addEventListener('change', this.#redraw);
    document.addEventListener('keydown', this.#onKey);
    void this.#model.open(this.view.member);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#wide.removeEventListener('change', this.#redraw);
    document.removeEventListener('keydown', this.#onKey);
    this.#player.pause();
    this.#source.dispose();
  }

  readonly #redraw = () => this.requestUpdate();

  #set(change: Partial<ViewState>): void {
    this.view = { ...this.view, ...change };
    // What happens before it is known where the reader was must not stand for it.
    if (!this.#opened) return;
    // Each change at once: a page that goes gives no time to do it later.
    const state = keepState(this.dataset['trace'] ?? '', this.view);
    void this.#client.request('keep', { state }).catch(() => undefined);
  }

  get #total(): number {
    return this.#model.head?.steps ?? 0;
  }

  get #selected(): number {
    return Math.min(this.view.step ?? 0, Math.max(0, this.#total - 1));
  }

  #onOpened(start: number, target: TraceViewTarget | undefined, kept: string | undefined): void {
    const newer = kept === undefined ? undefined : newerState(kept);
    this.#opened = true;
    const { member } = this.view;
    if (newer) this.#set(newer);
    if (this.view.member !== member) return void this.#model.open(this.view.member);
    this.#source.reset();
    this.#source.grow(this.#total, 0);
    this.#blobs.clear();
    this.revision++;
    const step = target?.step ?? this.view.step ?? start;
    // One that has yet to be found in a large file stays the one that is meant: the last that is there is shown until then.
    if (step !== this.view.step) this.#set({ step });
    const { live, indexed } = this.#model.head!;
    // Where the episode goes on, the end is where things happen.
    this.#following = step === this.#total - 1 || (live && indexed === undefined && target?.step === undefined && step >= this.#total);
    if (!target?.aside) void this.updateComplete.then(() => this.dialog || this.searchPanel?.contains(document.activeElement) || this.list?.focusList());
  }

  #onGrown(from: number): void {
    this.#source.grow(this.#total, from);
    this.revision++;
    if (this.#following) this.#go(this.#total - 1);
  }

  async #openMember(member: number): Promise<void> {
    this.#player.pause();
    this.#set({ member, step: undefined });
    await this.#model.open(member);
  }

  #go(step: number): void {
    const target = Math.min(this.#total - 1, Math.max(0, step));
    if (this.#total === 0) return;
    this.#following = target === this.#total - 1;
    if (target !== this.view.step) this.#set({ step: target });
  }

  async #playOn(goesOn: () => boolean): Promise<boolean> {
    const next = this.#selected + 1;
    if (next >= this.#total) return false;
    const step = await this.#model.step(next);
    const images = [...(step.frames ?? [])];
    await Promise.all(images.map((image) => this.#blob(image)));
    if (!goesOn()) return true;
    this.#go(next);
    return next + 1 < this.#total;
  }

  async #command(command: TraceViewCommand): Promise<void> {
    if (command === 'search') {
      if (performance.now() - this.#findAt > FIND_ECHO_MS && !this.searchPanel?.contains(document.activeElement)) this.#openSearch();
      return;
    }
    await this.#do(command);
  }

  readonly #onKey = (event: KeyboardEvent) => {
    if (!this.#model.head) return;
    if (isFind(event)) {
      // Here, since what is typed next is for the box: VS Code's own way to the command takes a moment.
      event.preventDefault();
      this.#findAt = performance.now();
      return this.#openSearch();
    }
    const deed = deedOf(event);
    if (!deed) return;
    event.preventDefault();
    void this.#do(deed);
  };

  async #do(deed: Deed): Promise<void> {
    const at = this.#selected;
    if (deed !== 'play' && deed !== 'slower' && deed !== 'faster') this.#player.pause();
    switch (deed) {
      case 'next':
      case 'stepInto': return this.#go(at + 1);
      case 'previous': return this.#go(at - 1);
      case 'nextPage': return this.#go(at + (this.list?.page ?? 1));
      case 'previousPage': return this.#go(at - (this.list?.page ?? 1));
      case 'first': return this.#go(0);
      case 'last': return this.#go(this.#total - 1);
      case 'stepOver': return this.#step((fetch) => over(fetch, at, 1, this.#total));
      case 'stepBack': return this.#step((fetch) => over(fetch, at, -1, this.#total));
      case 'stepOut': return this.#step((fetch) => out(fetch, at, this.#total));
      case 'nextError': return this.#goToError(1);
      case 'previousError': return this.#goToError(-1);
      case 'search': return this.#openSearch();
      case 'sandbox':
      case 'fork': return this.#travel(deed);
      case 'goTo': this.dialog = 'goTo'; return;
      case 'help': this.dialog = 'keys'; return;
      case 'raw': return this.#set({ raw: !this.view.raw });
      case 'copy': return this.#copy('step');
      case 'link': return this.#copyLink();
      case 'open': await this.#attempt(() => this.#client.request('open', { step: at, raw: true }, { timeoutMs: DIALOG_TIMEOUT_MS })); return;
      case 'play': return this.playing ? this.#player.pause() : this.#player.play(() => this.view.speed);
      case 'slower': return this.#speed(-1);
      case 'faster': return this.#speed(1);
      case 'content': return this.pane?.focusBody();
      case 'list': return this.view.find === undefined ? this.list?.focusList() : this.#closeSearch();
    }
  }

  async #step(find: (fetch: (from: number, to: number) => Promise<TraceViewRequests['summaries']['result']>) => Promise<number>): Promise<void> {
    await this.#attempt(async () => this.#go(await find((from, to) => this.#client.request('summaries', { from, to }))));
  }

  async #goToError(direction: 1 | -1): Promise<void> {
    await this.#attempt(async () => {
      const step = await this.#client.request('nextError', { from: this.#selected, direction });
      if (step !== null) this.#go(step);
      else this.#say(direction === 1 ? l10n.t('No error after this step.') : l10n.t('No error before this step.'));
    });
  }

  async #travel(to: 'sandbox' | 'fork'): Promise<void> {
    if (this.#model.head?.format === 'native') return this.#attempt(async () => void (await this.#client.request('travel', { step: this.#selected, to })));
    this.#say(l10n.t('Only steps that were recorded here can be reached again.'));
  }

  #speed(change: 1 | -1): void {
    const at = SPEEDS.findIndex((speed) => speed === this.view.speed) + change;
    const speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at))]!;
    this.#set({ speed });
    this.#say(l10n.t('Speed {0}', `${speed}\u00d7`));
  }

  #openSearch(): void {
    if (this.view.find === undefined) this.#set({ find: '' });
    else this.searchPanel?.focusInput();
  }

  #closeSearch(): void {
    this.#set({ find: undefined });
    void this.updateComplete.then(() => this.list?.focusList());
  }

  readonly #runSearch = (text: string, onHits: (hits: readonly SearchHit[]) => void) => {
    this.#onHits = onHits;
    return this.#client.request('search', { search: ++this.#search, text }, { timeoutMs: SEARCH_TIMEOUT_MS });
  };

  readonly #endSearch = () => {
    this.#onHits = undefined;
    this.#search++;
    void this.#client.request('endSearch', undefined).catch(() => undefined);
  };

  async #copy(what: 'step' | 'curl' | 'python'): Promise<void> {
    await this.#attempt(async () => {
      const step = await this.#model.step(this.#selected);
      const call = step.model;
      if (what === 'step') await this.#copyText(stepMarkdown(step), l10n.t('step {0}', oneLine(step.label, 40)));
      else if (call?.request !== undefined) await this.#copyText(what === 'curl' ? asCurl(call) : asPython(call), l10n.t('model call to {0}', new URL(callUrl(call)).host));
    });
  }

  async #copyText(text: string, what: string): Promise<void> {
    await this.#client.request('copy', { text, what });
    this.#say(l10n.t('Copied: {0}', what));
  }

  async #copyLink(): Promise<void> {
    await this.#attempt(async () => {
      const { label, title } = await this.#model.step(this.#selected);
      await this.#client.request('copyLink', { step: this.#selected, title: l10n.t('step {0}, {1}', oneLine(label, 40), oneLine(title, 150)) });
      this.#say(l10n.t('Copied: {0}', l10n.t('link to the step')));
    });
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
      this.failure = message(error);
    }
  }

  readonly #loader = {
    step: (index: number): Promise<StepDetail> => this.#model.step(index),
    raw: (index: number) => this.#client.request('raw', { step: index }),
    blob: (ref: BlobRef) => this.#blob(ref),
  };

  /** Bytes of a blob; those of the last ones are kept, so that a film need not wait for them twice. */
  #blob({ blob: ref }: BlobRef): Promise<Uint8Array> {
    const known = this.#blobs.get(ref) ?? this.#client.request('blob', { ref });
    this.#blobs.delete(ref);
    this.#blobs.set(ref, known);
    known.catch(() => this.#blobs.delete(ref));
    for (const old of this.#blobs.keys()) if (this.#blobs.size > BLOBS_KEPT) this.#blobs.delete(old);
    return known;
  }

  readonly #loadTimeline = (bins: number) => this.#model.timeline(Math.min(MOST_BINS, bins));

  override render() {
    const { head, problem } = this.#model;
    if (!head) return html`<main class="page trace-view">${problem === undefined ? html`<vscode-progress-bar indeterminate aria-label=${l10n.t('Opening the trace')}></vscode-progress-bar>` : this.#problemNotice(problem)}</main>`;
    const summary = this.#source.step(this.#selected);
    return html`<main class="page trace-view">
      <rl-trace-header .head=${head}></rl-trace-header>
      ${problem === undefined ? nothing : this.#problemNotice(problem)}
      ${this.#source.problem === undefined || problem !== undefined ? nothing : this.#problemNotice(this.#source.problem)}
      ${this.failure === undefined
        ? nothing
        : html`<div class="notice" role="alert">${icon('error', 'tone-error')} <span>${this.failure}</span> <button type="button" class="link" @click=${() => (this.failure = undefined)}>${l10n.t('Dismiss')}</button></div>`}
      ${head.steps === 0
        ? html`<p class="empty">${head.live ? l10n.t('No step has begun yet.') : l10n.t('The trace has no steps.')}</p>`
        : html`<rl-timeline .total=${head.steps} .selected=${this.#selected} .summary=${summary} .revision=${this.revision} .load=${this.#loadTimeline} .timed=${head.startedAt !== undefined}></rl-timeline>
            ${this.#split(summary)}`}
      ${this.#foot()}
      <div class="hidden" role="status">${this.said}</div>
      ${this.dialog === 'keys' ? html`<rl-keys></rl-keys>` : this.dialog === 'goTo' ? html`<rl-go-to .total=${head.steps}></rl-go-to>` : nothing}
    </main>`;
  }

  #split(summary: ReturnType<StepSource['step']>) {
    const { split, raw, find } = this.view;
    const beside = this.#wide.matches;
    return html`<div class="split ${beside ? 'beside' : 'below'}">
      <div class="steps">
        ${find === undefined ? nothing : html`<rl-search .text=${find} .search=${this.#runSearch} .end=${this.#endSearch}></rl-search>`}
        <rl-step-list .source=${this.#source} .selected=${this.#selected}></rl-step-list>
      </div>
      <rl-splitter .label=${l10n.t('Size of the step')} .split=${split} .beside=${beside}></rl-splitter>
      <rl-step-pane .index=${this.#selected} .summary=${summary} .raw=${raw} .find=${(find ?? '').toLowerCase()} .loader=${this.#loader} .revision=${this.revision} .travels=${this.#model.head?.format === 'native'}></rl-step-pane>
    </div>`;
  }

  #foot() {
    const hint = (keys: string, text: string) => html`<span class="hint"><kbd>${keys}</kbd> ${text}</span>`;
    return html`<footer class="foot">
      <button type="button" class="toolbar-button play" aria-label=${this.playing ? l10n.t('Pause') : l10n.t('Play')} title=${l10n.t('{0} ({1})', this.playing ? l10n.t('Pause') : l10n.t('Play'), l10n.t('Space'))} @click=${() => void this.#do('play')}>${icon(this.playing ? 'debug-pause' : 'play')}</button>
      <span class="speed figures">${this.view.speed}\u00d7</span>
      <span class="position figures">${l10n.t('{0} of {1}', format.integer(this.#total === 0 ? 0 : this.#selected + 1), format.integer(this.#total))}</span>
      <span class="hints" aria-hidden="true">${hint('\u2190 \u2192', l10n.t('step'))} ${hint('n p', l10n.t('error'))} ${hint('/', l10n.t('search'))} ${hint('g', l10n.t('go to'))} ${hint('r', l10n.t('raw'))}</span>
      <span class="said">${this.said}</span>
      <button type="button" class="toolbar-button help" aria-label=${l10n.t('Keys')} title=${l10n.t('Keys (?)')} @click=${() => (this.dialog = 'keys')}>${icon('keyboard')}</button>
    </footer>`;
  }

  protected override updated(): void {
    const box = this.querySelector<HTMLElement>('.split');
    if (box && box.dataset['split'] !== String(this.view.split)) {
      box.dataset['split'] = String(this.view.split);
      box.style.setProperty('--split', box.dataset['split']);
    }
    // The source is the same object: what it holds has changed.
    this.list?.requestUpdate();
  }

  #problemNotice(problem: string) {
    return html`<div class="notice" role="alert">
      ${icon('error', 'tone-error')} <span>${l10n.t('Failed to read the trace: {0}', problem)}</span>
      <button type="button" class="link" @click=${() => void this.#model.open()}>${l10n.t('Retry')}</button>
    </div>`;
  }
}
