import * as l10n from '@vscode/l10n';
import { type TemplateResult, html, nothing, svg } from 'lit';
import type { ComponentFigures } from '../../../src/protocol/runView.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';

/** Components with a name of their own in the legend. */
const SHOWN = 4;

/** What each component adds to the mean reward, stacked: lengths are sizes, a penalty has a minus in the legend and an outline in the bar. */
export function componentBar(components: readonly ComponentFigures[]): TemplateResult {
  const known = components.filter(({ contribution }) => contribution !== null).sort((one, other) => Math.abs(other.contribution!) - Math.abs(one.contribution!));
  const total = known.reduce((sum, { contribution }) => sum + Math.abs(contribution!), 0);
  if (known.length === 0) return html`<div class="chart-empty">${l10n.t('No episode has a reward.')}</div>`;
  const name = (component: ComponentFigures) => oneLine(component.name, 60);
  const rest = known.slice(SHOWN);
  let from = 0;
  return html`
    <svg class="component-bar" role="img" aria-label=${known.map((component) => `${name(component)} ${format.percent(Math.abs(component.contribution!), total)}`).join(', ')}>
      ${known.map((component, index) => {
        const [x, width] = [from, total > 0 ? (100 * Math.abs(component.contribution!)) / total : 0];
        from += width;
        return svg`<rect class="component-${Math.min(index, SHOWN)} ${component.contribution! < 0 ? 'penalty' : ''}" x="${x}%" y="0" width="${width}%" height="100%"><title>${name(component)}: ${format.reward(component.contribution)}</title></rect>`;
      })}
    </svg>
    <dl class="time-legend component-legend">
      ${known.slice(0, SHOWN).map(
        (component, index) => html`<div title=${l10n.t('mean {0} x weight {1}', format.reward(component.mean), format.edge(component.weight))}>
          <dt><svg class="swatch" aria-hidden="true"><rect class="component-${index}" width="100%" height="100%"></rect></svg>${name(component)}</dt>
          <dd class="figures">${format.reward(component.contribution)}</dd>
          <dd class="figures time-share">${format.percent(Math.abs(component.contribution!), total)}</dd>
        </div>`,
      )}
      ${rest.length > 0
        ? html`<div>
            <dt><svg class="swatch" aria-hidden="true"><rect class="component-${SHOWN}" width="100%" height="100%"></rect></svg>${l10n.t('{0} more', rest.length)}</dt>
            <dd class="figures">${format.reward(rest.reduce((sum, { contribution }) => sum + contribution!, 0))}</dd>
            <dd class="figures time-share">${format.percent(rest.reduce((sum, { contribution }) => sum + Math.abs(contribution!), 0), total)}</dd>
          </div>`
        : nothing}
    </dl>`;
}
