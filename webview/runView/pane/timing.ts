import * as l10n from '@vscode/l10n';
import { type TemplateResult, html, nothing } from 'lit';
import type { EpisodeRecord } from '../../../src/protocol/runView.js';
import * as format from '../../format.js';
import { timeBar, timeParts } from '../charts/timeBar.js';

/** How long the parts of the episode took. */
export function timingView({ timings, attempts, startedAt, exitCode, steps }: EpisodeRecord): TemplateResult {
  const known = timeParts(timings).reduce((sum, { ms }) => sum + ms, 0);
  const other = timings.total - known;
  const fact = (name: string, value: string) => html`<div><dt>${name}</dt><dd class="figures">${value}</dd></div>`;
  return html`
    <div class="timing-bar">${timeBar(timings)}</div>
    <dl class="facts">
      ${fact(l10n.t('total'), format.duration(timings.total))}
      ${other >= 1 ? fact(attempts > 1 ? l10n.t('earlier attempts and waits') : l10n.t('in between'), format.duration(other)) : nothing}
      ${fact(l10n.t('attempts'), format.integer(attempts))} ${fact(l10n.t('started'), format.moment(startedAt))} ${fact(l10n.t('steps'), format.integer(steps))}
      ${exitCode === undefined ? nothing : fact(l10n.t('exit code'), String(exitCode))}
    </dl>`;
}
