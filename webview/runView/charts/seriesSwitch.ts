import * as l10n from '@vscode/l10n';
import { type TemplateResult, html } from 'lit';
import { emit, icon } from '../../element.js';

export type SeriesBy = 'finish' | 'seed';

/** The title of a chart of rewards in an order, which leads to the other order. */
export function seriesSwitch(from: EventTarget, by: SeriesBy): TemplateResult {
  const other: SeriesBy = by === 'seed' ? 'finish' : 'seed';
  return html`<h2>
    <button type="button" class="series-switch" title=${other === 'seed' ? l10n.t('Show rewards by seed') : l10n.t('Show rewards by finish order')} @click=${() => emit(from, 'series-by', other)}>
      ${by === 'seed' ? l10n.t('Reward by seed') : l10n.t('Reward by finish order')} ${icon('arrow-swap')}
    </button>
  </h2>`;
}
