import * as l10n from '@vscode/l10n';
import { type TemplateResult, html } from 'lit';
import type { EpisodeDetail } from '../../../src/protocol/runView.js';
import { icon } from '../../element.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';

/** The files that were kept. `open` is given the path of the one to open. */
export function artifactsView({ artifacts, record }: EpisodeDetail, open: (path: string) => void): TemplateResult {
  if (artifacts.length === 0) return html`<p class="pane-empty">${l10n.t('No files were kept.')}</p>`;
  const more = record.artifacts - artifacts.length;
  return html`<ul class="artifacts" aria-label=${l10n.t('Artifacts')}>
      ${artifacts.map(
        ({ path, size }) => html`<li>
          ${icon('file')}
          <button type="button" class="link artifact-name" title=${l10n.t('Open in Editor')} @click=${() => open(path)}>${oneLine(path)}</button>
          <span class="figures">${format.bytes(size)}</span>
        </li>`,
      )}
    </ul>
    ${more > 0 ? html`<p class="output-cut">${l10n.t('{0} more are in the folder of the run.', format.integer(more))}</p>` : ''}`;
}
