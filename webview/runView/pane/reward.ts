import * as l10n from '@vscode/l10n';
import { type TemplateResult, html, nothing } from 'lit';
import type { EpisodeRecord, RewardComponent, RewardProblem } from '../../../src/protocol/runView.js';
import { icon } from '../../element.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';
import { problemRule } from '../words.js';

function problem({ code, message }: RewardProblem): TemplateResult {
  return html`<div class="reward-problem">
    ${icon('warning', 'tone-warning')}
    <div>
      <p><code>${oneLine(code, 60)}</code> ${oneLine(message)}</p>
      <p class="rule">${problemRule(code)}</p>
    </div>
  </div>`;
}

function row({ name, weight, value, detail, problem: why }: RewardComponent): TemplateResult {
  return html`<tr>
    <th scope="row">${oneLine(name, 100)}</th>
    <td class="numeric figures">${format.edge(weight)}</td>
    <td class="numeric figures">${format.reward(value)}</td>
    <td class="numeric figures">${format.reward(value === null ? null : weight * value)}</td>
    <td class="reward-detail">${detail === undefined ? nothing : oneLine(detail)} ${why ? problem(why) : nothing}</td>
  </tr>`;
}

/** The reward of an episode, what it is the sum of, and why there is none if there is none. */
export function rewardView(record: EpisodeRecord): TemplateResult {
  const { reward, components } = record;
  return html`
    <p class="reward-total"><span class="figures">${format.reward(reward)}</span> ${reward === null ? l10n.t('no reward') : l10n.t('reward')}</p>
    ${record.problem ? problem(record.problem) : nothing}
    ${record.cause === undefined || record.problem ? nothing : html`<p class="cause">${icon('info')} <span>${oneLine(record.cause, 4000)}</span></p>`}
    ${components.length === 0
      ? html`<p class="pane-empty">${l10n.t('No component was computed.')}</p>`
      : html`<table class="reward-table">
          <caption class="hidden">${l10n.t('Components of the reward')}</caption>
          <thead>
            <tr>
              <th scope="col">${l10n.t('component')}</th>
              <th scope="col" class="numeric">${l10n.t('weight')}</th>
              <th scope="col" class="numeric">${l10n.t('value')}</th>
              <th scope="col" class="numeric">${l10n.t('product')}</th>
              <th scope="col">${l10n.t('detail')}</th>
            </tr>
          </thead>
          <tbody>${components.map(row)}</tbody>
          <tfoot>
            <tr><th scope="row" colspan="3">${l10n.t('sum')}</th><td class="numeric figures">${format.reward(reward)}</td><td></td></tr>
          </tfoot>
        </table>`}`;
}
