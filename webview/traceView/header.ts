import * as l10n from '@vscode/l10n';
import '@vscode-elements/elements/dist/vscode-option/index.js';
import '@vscode-elements/elements/dist/vscode-single-select/index.js';
import { html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { TraceHead } from '../../src/protocol/traceView.js';
import { PageElement, emit, icon } from '../element.js';
import * as format from '../format.js';
import { oneLine } from '../text.js';
import './header.css';
import { money } from './step/stepView.js';
import { endWord } from './words.js';

/** A reward in as few digits as it has; a dash, never 0, where there is none. */
const value = (reward: number | null): string => (reward === null ? format.NONE : format.edge(reward));

/** Names in the picker of members; where there are more, the others are reached by `member` in a link or the command line. */
const MOST_MEMBERS = 2000;

/** Which episode this is, what it earned and why, and how it ended. */
@customElement('rl-trace-header')
export class TraceHeader extends PageElement {
  @property({ attribute: false }) head!: TraceHead;

  override render() {
    const { head } = this;
    const end = endWord(head);
    return html`<div class="head-line">
        <h1>${oneLine(head.title, 200)}</h1>
        <span class="head-facts figures">
          ${head.seed === undefined ? nothing : html`<span>${l10n.t('seed {0}', head.seed)}</span>`}
          ${head.sample === undefined ? nothing : html`<span>${l10n.t('sample {0}', head.sample)}</span>`}
          ${this.#facts().map((fact) => html`<span>${fact}</span>`)}
        </span>
        ${this.#members()}
      </div>
      <div class="head-line outcome">
        <span class="end tone-${end.tone}" role="status">${icon(end.icon, head.live ? 'codicon-modifier-spin' : '')} <span>${end.text}</span></span>
        ${head.reward === undefined || (head.live && head.reward === null) ? nothing : html`<span class="reward figures">${l10n.t('reward')} <strong>${value(head.reward)}</strong></span>`}
        ${head.components?.length
          ? html`<span class="reward-parts figures">${head.components.map(
              ({ name, value: part, weight, detail }) => html`<span title=${detail === undefined ? nothing : oneLine(detail, 400)}>${oneLine(name, 60)} <strong>${value(part)}</strong>${weight === undefined ? nothing : html` <span class="weight">\u00d7 ${format.edge(weight)}</span>`}</span>`,
            )}</span>`
          : nothing}
      </div>
      ${head.problems.length > 0
        ? html`<details class="problems"><summary>${icon('warning', 'tone-warning')} ${head.problems.length === 1 ? oneLine(head.problems[0]!, 300) : l10n.t('{0} things could not be read', head.problems.length)}</summary><ul>${head.problems.slice(0, 200).map((problem) => html`<li>${oneLine(problem, 500)}</li>`)}</ul></details>`
        : nothing}`;
  }

  #facts(): string[] {
    const { agent, model, steps, tokens, cost, startedAt, endedAt, format: name, version } = this.head;
    const facts = [
      ...(agent ? [oneLine(agent, 80)] : []),
      ...(model && model !== agent ? [oneLine(model, 80)] : []),
      steps === 1 ? l10n.t('1 step') : l10n.t('{0} steps', format.integer(steps)),
      ...(startedAt !== undefined && endedAt !== undefined && endedAt > startedAt ? [format.duration(endedAt - startedAt)] : []),
      ...(tokens ? [l10n.t('{0} tokens in, {1} out', format.integer(tokens.prompt ?? 0), format.integer(tokens.completion ?? 0))] : []),
      ...(cost === undefined ? [] : [money(cost)]),
    ];
    if (this.head.indexed !== undefined) facts.push(l10n.t('{0} read so far', format.percent(this.head.indexed, 1)));
    return name === 'native' ? facts : [...facts, version ? `${oneLine(name, 40)} ${oneLine(version, 40)}` : oneLine(name, 40)];
  }

  #members() {
    const { members } = this.head;
    if (!members || members.total < 2) return nothing;
    const names = members.names.slice(0, MOST_MEMBERS);
    return html`<vscode-single-select
      class="members"
      combobox
      label=${l10n.t('Trace of the file')}
      .selectedIndex=${members.selected}
      @change=${(event: Event) => emit(this, 'member', (event.target as HTMLElement & { selectedIndex: number }).selectedIndex)}
    >
      ${names.map((name, index) => html`<vscode-option value=${String(index)} ?selected=${index === members.selected}>${oneLine(name, 80)}</vscode-option>`)}
    </vscode-single-select>`;
  }
}
