import * as l10n from '@vscode/l10n';
import { html, nothing, svg } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { GroupFigures, PassAtK } from '../../../src/protocol/runView.js';
import { PageElement } from '../../element.js';
import * as format from '../../format.js';

const share = (value: number) => `${(100 * value).toFixed(1)} %`;

/** pass@k with its interval, for each k that the samples can tell. */
@customElement('rl-pass-at-k')
export class PassAtKChart extends PageElement {
  @property({ attribute: false }) groups!: GroupFigures;
  /** k under the pointer. */
  @state() private pointed?: number;

  #describe({ k, value, ci95, seeds }: PassAtK): string {
    if (value === null) return l10n.t('pass@{0}: no seed has as many rewards', k);
    const interval = ci95 ? l10n.t('{0} to {1}', share(ci95.low), share(ci95.high)) : l10n.t('no interval');
    return l10n.t('pass@{0}: {1} ({2}), {3} seeds', k, share(value), interval, format.integer(seeds));
  }

  /** What the groups say about training, and what is left out of them. */
  #signal(): string {
    const { compared, withoutSignal, unscored } = this.groups;
    const flat = l10n.t('{0} of {1} groups without signal', format.integer(withoutSignal), format.integer(compared));
    return unscored > 0 ? `${flat} \u00b7 ${l10n.t('{0} without reward left out', format.integer(unscored))}` : flat;
  }

  override render() {
    const { passAtK, threshold } = this.groups;
    const pointed = passAtK.find(({ k }) => k === this.pointed);
    const known = passAtK.filter(({ value }) => value !== null);
    return html`
      <div class="chart-head">
        <h2 title=${l10n.t('Chance that at least one of k samples is solved: unbiased, averaged over seeds, with a 95 % interval over seeds.')}>${l10n.t('pass@k, solved from {0}', format.edge(threshold))}</h2>
        <span class="readout figures">${pointed ? this.#describe(pointed) : nothing}</span>
      </div>
      ${known.length === 0
        ? html`<div class="chart-empty">${l10n.t('No episode has a reward.')}</div>`
        : html`<svg class="pass-at-k" role="img" aria-label=${[...known.map((each) => this.#describe(each)), this.#signal()].join('; ')} @pointerleave=${() => (this.pointed = undefined)}>
              ${passAtK.map((each, index) => this.#mark(each, (100 * (index + 0.5)) / passAtK.length, 100 / passAtK.length))}
            </svg>
            <div class="k-axis figures" aria-hidden="true">${passAtK.map(({ k }) => html`<span>${k}</span>`)}</div>`}
      <p class="signal" title=${l10n.t('All rewards of such a group are equal, so that every advantage in it is 0 and a trainer that compares samples learns nothing from it.')}>${this.#signal()}</p>`;
  }

  #mark({ k, value, ci95 }: PassAtK, x: number, width: number) {
    const y = (share: number) => `${4 + 92 * (1 - share)}%`;
    return svg`
      ${ci95 ? svg`<line class="interval" x1="${x}%" x2="${x}%" y1=${y(ci95.low)} y2=${y(ci95.high)}></line>` : nothing}
      ${value === null ? nothing : svg`<circle class="estimate" cx="${x}%" cy=${y(value)} r="4"></circle><text class="estimate-text" x="${x}%" dx="8" y=${y(value)} dy="4">${Math.round(100 * value)}</text>`}
      <rect class="k-target" x="${x - width / 2}%" y="0" width="${width}%" height="100%" @pointerenter=${() => (this.pointed = k)}></rect>`;
  }
}
