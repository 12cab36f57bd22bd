import * as l10n from '@vscode/l10n';
import { type TemplateResult, html, svg } from 'lit';
import * as format from '../../format.js';

/** The four parts of an episode's life, ms. */
export interface TimeParts {
  readonly restore: number;
  readonly act: number;
  readonly score: number;
  readonly terminate: number;
}

export interface TimePart {
  readonly key: keyof TimeParts;
  readonly label: string;
  readonly ms: number;
}

export function timeParts(time: TimeParts): TimePart[] {
  return [
    { key: 'restore', label: l10n.t('restore'), ms: time.restore },
    { key: 'act', label: l10n.t('act'), ms: time.act },
    { key: 'score', label: l10n.t('score'), ms: time.score },
    { key: 'terminate', label: l10n.t('tear down'), ms: time.terminate },
  ];
}

/** A bar whose lengths are times, with a legend that says them. `share` divides the times, as for a mean per episode. */
export function timeBar(time: TimeParts, share = 1): TemplateResult {
  const parts = timeParts(time);
  const total = parts.reduce((sum, { ms }) => sum + ms, 0);
  let from = 0;
  return html`
    <svg class="time-bar" role="img" aria-label=${parts.map(({ label, ms }) => `${label} ${format.percent(ms, total)}`).join(', ')}>
      ${parts.map(({ key, ms, label }) => {
        const [x, width] = [from, total > 0 ? (100 * ms) / total : 0];
        from += width;
        return svg`<rect class="part-${key}" x="${x}%" y="0" width="${width}%" height="100%"><title>${label}: ${format.percent(ms, total)}</title></rect>`;
      })}
    </svg>
    <dl class="time-legend">
      ${parts.map(
        ({ key, ms, label }) => html`<div>
          <dt><svg class="swatch" aria-hidden="true"><rect class="part-${key}" width="100%" height="100%"></rect></svg>${label}</dt>
          <dd class="figures">${total > 0 ? format.duration(ms / share) : format.NONE}</dd>
          <dd class="figures time-share">${format.percent(ms, total)}</dd>
        </div>`,
      )}
    </dl>`;
}
