import * as l10n from '@vscode/l10n';
import { html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { RunRecord, RunSnapshot } from '../../src/protocol/runView.js';
import { PageElement, emit, icon } from '../element.js';
import * as format from '../format.js';
import { oneLine } from '../text.js';
import { type Action, type ActionName, actionsFor } from './actions.js';
import { stateWord } from './words.js';
import './header.css';

/** `512 seeds x 1`, or how many of them, if it is a rerun of some. */
function extent(run: RunRecord): string {
  const seeds = 'list' in run.seeds ? run.seeds.list.length : run.seeds.last - run.seeds.first + 1;
  const all = seeds === 1 ? l10n.t('1 seed × {0}', format.integer(run.samples)) : l10n.t('{0} seeds × {1}', format.integer(seeds), format.integer(run.samples));
  return run.only ? l10n.t('{0} of {1}', format.integer(run.total), all) : all;
}

/** What ran, where, how it stands, and what can be done with it. */
@customElement('rl-run-header')
export class RunHeader extends PageElement {
  @property({ attribute: false }) snapshot!: RunSnapshot;
  @property({ attribute: false }) trusted = true;
  @property({ attribute: false }) pending: ReadonlySet<ActionName> = new Set();
  /** Wall time by now, ms. */
  @property({ attribute: false }) durationMs = 0;

  override render() {
    const { run } = this.snapshot;
    const state = stateWord(run.state);
    const active = run.state === 'building' || run.state === 'running';
    const ended = run.finishedAt === undefined || active ? state.text : `${state.text} ${format.moment(run.finishedAt)}`;
    return html`
      <div class="header-title">
        <h1>${oneLine(run.template, 100)} <span class="run-number">${l10n.t('run #{0}', run.number)}</span></h1>
        <span class="run-state">${icon(state.icon, `tone-${state.tone}`)} ${ended}</span>
        <span class="figures">${run.startedAt === undefined ? nothing : format.duration(this.durationMs)}</span>
      </div>
      <div class="header-actions" role="toolbar" aria-label=${l10n.t('Actions of the run')}>
        ${actionsFor(this.snapshot, this.trusted, this.pending).map((action) => this.#button(action))}
      </div>
      <div class="header-facts">
        <span title=${l10n.t('Provider')}>${oneLine(run.provider, 60)}</span>
        ${this.#snapshotFact(run)}
        <span>${extent(run)}</span>
        <span>${l10n.t('{0} at once', format.integer(run.concurrency))}</span>
        <span title=${l10n.t('Policy')}>${oneLine(run.policy, 60)}</span>
        ${this.#costFact(run)}
        ${run.fork ? html`<span title=${oneLine(run.fork.trace, 400)}>${l10n.t('forked from {0}, episode {1}, after step {2}', oneLine(run.fork.run ?? l10n.t('a trace'), 80), run.fork.episode, run.fork.step)}</span>` : nothing}
      </div>`;
  }

  #costFact({ cost, costUnknown, maxCost, finishedAt }: RunRecord) {
    if (costUnknown !== undefined) return html`<span title=${oneLine(costUnknown, 400)}>${icon('warning', 'tone-warning')} ${l10n.t('cost not known')}</span>`;
    if (!cost) return nothing;
    const spent = maxCost === undefined ? format.dollars(cost.spent) : l10n.t('{0} of {1}', format.dollars(cost.spent), format.dollars(maxCost));
    const goesOn = finishedAt !== undefined && cost.perSecond > 0 ? l10n.t('kept sandboxes go on costing {0} an hour', format.dollars(cost.perSecond * 3600)) : undefined;
    return html`<span class="figures" title=${l10n.t('What its sandboxes have cost so far, by the price table')}>${goesOn === undefined ? spent : `${spent}, ${goesOn}`}</span>`;
  }

  #snapshotFact(run: RunRecord) {
    if (!run.snapshot) return nothing;
    const { id, built, buildMs } = run.snapshot;
    const origin = built ? l10n.t('built in {0}', format.duration(buildMs)) : l10n.t('reused');
    return html`<span title=${oneLine(id)}>${l10n.t('snapshot {0}, {1}', oneLine(id, 12), origin)}</span>`;
  }

  // `aria-disabled` in place of `disabled`: a button that says why it is off must be reachable.
  #button({ name, icon: glyph, label, tooltip, disabled }: Action) {
    return html`<button
      type="button"
      class="toolbar-button"
      data-action=${name}
      aria-disabled=${disabled ? 'true' : 'false'}
      aria-label=${label}
      aria-description=${disabled ?? tooltip}
      title=${disabled ? `${label}: ${disabled}` : `${label}: ${tooltip}`}
      @click=${() => disabled || emit(this, 'run-action', name)}
    >
      ${icon(glyph)}<span class="button-label">${label}</span>
    </button>`;
  }
}
