import * as l10n from '@vscode/l10n';
import { type PropertyValues, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import type { GroupSortKey, Groups, GroupsQuery, RunSnapshot, SeedGroup } from '../../src/protocol/runView.js';
import { PageElement, emit, icon } from '../element.js';
import * as format from '../format.js';
import { hasTerms } from './filterTerms.js';
import '../sortable.css';
import './seedGroups.css';

const ROW_HEIGHT = 22;
/** Rows in one request: what is in sight, several times over. */
const WINDOW = 100;
const AHEAD = 30;
/** Shades that can be told apart. */
const LEVELS = 10;

/** Where the keyboard is: a seed, and a sample of it, or -1 for the seed itself. */
interface Cursor {
  readonly row: number;
  readonly sample: number;
}

/** Seeds with their samples side by side, coloured by reward. A seed and a cell are filters of the table. */
@customElement('rl-seed-groups')
export class SeedGroups extends PageElement {
  @property({ attribute: false }) snapshot!: RunSnapshot;
  @property({ attribute: false }) filter = '';
  @property({ attribute: false }) load!: (query: GroupsQuery) => Promise<Groups>;
  @state() private groups: Groups = { total: 0, start: 0, groups: [] };
  @state() private order: { readonly sort: GroupSortKey; readonly descending: boolean } = { sort: 'seed', descending: false };
  @state() private cursor: Cursor = { row: 0, sample: -1 };
  @state() private pointed?: Cursor;
  @state() private problem?: string;
  @query('.seed-grid') private readonly scroller!: HTMLElement;
  #asked = '';
  #busy = false;

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('snapshot') || changed.has('order')) this.#want();
  }

  /** Asks for what is in sight, one request at a time, if it is not there. */
  #want(): void {
    if (this.#busy) return;
    const first = Math.floor((this.scroller?.scrollTop ?? 0) / ROW_HEIGHT);
    const { start, groups, total } = this.groups;
    const covered = first >= start && Math.min(total, first + AHEAD) <= start + groups.length;
    const query = { ...this.order, start: covered ? start : Math.max(0, first - AHEAD), count: WINDOW };
    const key = JSON.stringify([this.snapshot.revision, query]);
    if (key === this.#asked) return;
    this.#asked = key;
    this.#busy = true;
    this.load(query)
      .then(
        (groups) => {
          this.groups = groups;
          this.problem = undefined;
        },
        (error: unknown) => (this.problem = error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        this.#busy = false;
        this.#want();
      });
  }

  override render() {
    const { samples } = this.snapshot.run;
    const { total, start, groups } = this.groups;
    const at = this.pointed ?? this.cursor;
    const group = this.#at(at.row);
    return html`
      <div class="seed-readout figures" role="status">${this.problem ?? (group ? this.#describe(group, at.sample) : nothing)}</div>
      <div
        class="seed-grid"
        role="grid"
        tabindex="0"
        aria-label=${l10n.t('Rewards by seed and sample')}
        aria-rowcount=${total + 1}
        aria-colcount=${samples + 4}
        aria-activedescendant=${group ? this.#id(this.cursor) : nothing}
        @keydown=${this.#onKey}
        @scroll=${() => this.#want()}
        @click=${this.#onClick}
        @pointerover=${this.#onPoint}
        @pointerleave=${() => (this.pointed = undefined)}
      >
        <div class="seed-row seed-head sortable-head" role="row" aria-rowindex="1">
          ${this.#heading('seed', l10n.t('seed'))}
          ${this.#heading('mean', l10n.t('mean'))} ${this.#heading('std', l10n.t('std'))} ${this.#heading('solved', l10n.t('solved'))}
          <div role="columnheader" aria-colspan=${samples}>${samples > SENT ? l10n.t('samples, the first {0}', SENT) : l10n.t('samples')}</div>
        </div>
        <div class="seed-body" role="rowgroup"><div class="seed-window" role="presentation">${groups.map((each, index) => this.#row(each, start + index))}</div></div>
      </div>`;
  }

  protected override updated(): void {
    this.querySelector<HTMLElement>('.seed-body')!.style.height = `${this.groups.total * ROW_HEIGHT}px`;
    this.querySelector<HTMLElement>('.seed-window')!.style.transform = `translateY(${this.groups.start * ROW_HEIGHT}px)`;
  }

  #at(row: number): SeedGroup | undefined {
    return this.groups.groups[row - this.groups.start];
  }

  #id({ row, sample }: Cursor): string {
    return `seed-${row}-${sample}`;
  }

  #heading(key: GroupSortKey, title: string) {
    const { sort, descending } = this.order;
    const sorted = key === sort;
    return html`<div class=${key === 'seed' ? '' : 'numeric'} role="columnheader" aria-sort=${sorted ? (descending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" @click=${() => (this.order = { sort: key, descending: sorted && !descending })}>${title}${sorted ? icon(descending ? 'arrow-down' : 'arrow-up') : nothing}</button>
    </div>`;
  }

  #row(group: SeedGroup, row: number) {
    const { seed, mean, std, solved, scored, flat, rewards } = group;
    const chosen = (sample: number) => (hasTerms(this.filter, this.#terms(group, sample)) ? 'true' : 'false');
    const marked = (sample: number) => (this.cursor.row === row && this.cursor.sample === sample ? 'cursor' : '');
    return html`<div class="seed-row" role="row" aria-rowindex=${row + 2}>
      <div id=${this.#id({ row, sample: -1 })} class="seed-name figures ${marked(-1)}" role="gridcell" aria-selected=${chosen(-1)} data-row=${row} data-sample="-1">${seed}</div>
      <div class="numeric figures" role="gridcell">${format.reward(mean)}</div>
      <div class="numeric figures ${flat ? 'tone-muted' : ''}" role="gridcell" title=${flat ? l10n.t('All rewards are equal: no learning signal') : ''}>
        ${flat ? html`${icon('circle-slash')}<span class="hidden">${l10n.t('All rewards are equal: no learning signal')}</span> ` : nothing}${format.reward(std)}
      </div>
      <div class="numeric figures" role="gridcell">${scored === 0 ? format.NONE : `${solved}/${scored}`}</div>
      <div class="seed-strip" role="presentation">
        ${rewards.map((reward, sample) => {
          const shade = reward === null ? (group.unfinished.includes(sample) ? 'unfinished' : 'no-reward') : `level-${this.#level(reward)}`;
          return html`<span id=${this.#id({ row, sample })} class="sample ${shade} ${marked(sample)}" role="gridcell" aria-selected=${chosen(sample)} aria-label=${this.#describe(group, sample)} data-row=${row} data-sample=${sample}></span>`;
        })}
      </div>
    </div>`;
  }

  /** From 0 to 10, by where the reward lies among all of the run's. */
  #level(reward: number): number {
    const { min, max } = this.snapshot.stats;
    return min === null || max === null || max <= min ? LEVELS : Math.round((LEVELS * (reward - min)) / (max - min));
  }

  #describe({ seed, rewards, advantages, unfinished, mean, std, flat }: SeedGroup, sample: number): string {
    if (sample < 0) {
      const spread = flat ? l10n.t('no learning signal') : l10n.t('std {0}', format.reward(std));
      return l10n.t('seed {0}: mean {1}, {2}', seed, format.reward(mean), spread);
    }
    const place = l10n.t('seed {0}, sample {1}', seed, sample);
    const [reward, advantage] = [rewards[sample] ?? null, advantages[sample] ?? null];
    if (unfinished.includes(sample)) return `${place}: ${l10n.t('not finished')}`;
    if (reward === null) return `${place}: ${l10n.t('no reward')}`;
    return `${place}: ${advantage === null ? l10n.t('reward {0}', format.reward(reward)) : l10n.t('reward {0}, advantage {1}', format.reward(reward), format.signed(advantage))}`;
  }

  #terms({ seed }: SeedGroup, sample: number): string[] {
    return sample < 0 ? [`seed:${seed}`] : [`seed:${seed}`, `sample:${sample}`];
  }

  #toggle({ row, sample }: Cursor): void {
    const group = this.#at(row);
    if (group) emit(this, 'filter-toggle', this.#terms(group, sample));
  }

  #cellOf(event: Event): Cursor | undefined {
    const { row, sample } = (event.target as Element).closest<HTMLElement>('[data-row]')?.dataset ?? {};
    return row === undefined ? undefined : { row: Number(row), sample: Number(sample) };
  }

  #onPoint(event: Event): void {
    this.pointed = this.#cellOf(event);
  }

  #onClick(event: Event): void {
    const cell = this.#cellOf(event);
    if (!cell) return;
    this.cursor = cell;
    this.#toggle(cell);
  }

  readonly #onKey = (event: KeyboardEvent) => {
    if (event.target !== this.scroller || event.ctrlKey || event.metaKey || event.altKey) return;
    const { row, sample } = this.cursor;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_HEIGHT) - 2);
    const last = Math.min(this.snapshot.run.samples, SENT) - 1;
    const moves: Record<string, Cursor> = {
      ArrowDown: { row: row + 1, sample },
      ArrowUp: { row: row - 1, sample },
      PageDown: { row: row + page, sample },
      PageUp: { row: row - page, sample },
      Home: { row: 0, sample },
      End: { row: this.groups.total - 1, sample },
      ArrowLeft: { row, sample: Math.max(-1, sample - 1) },
      ArrowRight: { row, sample: Math.min(last, sample + 1) },
    };
    const next = moves[event.key];
    if (next) this.#moveTo({ ...next, row: Math.min(this.groups.total - 1, Math.max(0, next.row)) });
    else if (event.key === 'Enter' || event.key === ' ') this.#toggle(this.cursor);
    else return;
    event.preventDefault();
  };

  #moveTo(cursor: Cursor): void {
    this.pointed = undefined;
    this.cursor = cursor;
    const [top, height] = [cursor.row * ROW_HEIGHT, this.scroller.clientHeight - ROW_HEIGHT];
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + ROW_HEIGHT > this.scroller.scrollTop + height) this.scroller.scrollTop = top + ROW_HEIGHT - height;
  }
}

/** Samples of a seed that are sent: `MOST_CELLS` of `src/rollout/groups.ts`. */
const SENT = 256;
