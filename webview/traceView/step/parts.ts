import * as l10n from '@vscode/l10n';
import { html, nothing } from 'lit';
import type { Part, Place } from '../../../src/protocol/traceView.js';
import { ansiNodes } from '../../ansiView.js';
import * as format from '../../format.js';
import { code } from './code.js';
import { diff } from './diff.js';
import './fold.js';
import type { StepHost } from './host.js';
import './image.js';
import './jsonTree.js';
import './long.js';
import { markdown } from './markdown.js';

/** Pieces of content, as people read them. `place`: where they lie in the step. */
export function parts(content: readonly Part[] | undefined, place: Place, host: StepHost): unknown {
  return content?.map((part, index) => drawPart(part, [...place, index], host));
}

function drawPart(part: Part, place: Place, host: StepHost): unknown {
  switch (part.type) {
    case 'terminal': return terminal(part, place, host);
    case 'text': return folded(part.text, place, host, (text) => markdown(text, host));
    case 'code': return folded(part.text, place, host, (text) => code(text, part.language, host));
    case 'json': return typeof part.value === 'string' ? folded(part.value, place, host, (text) => code(text, '', host)) : html`<rl-json class="json" .value=${part.value}></rl-json>`;
    case 'diff': return folded(part.text, place, host, diff);
    case 'image': return html`<rl-image .image=${part.image} .alt=${part.alt ?? ''} .host=${host}></rl-image>`;
    case 'long': return html`<rl-long .content=${part.content} .place=${place} .host=${host}></rl-long>`;
  }
}

/** `draw` is new with each drawing, and so draws with what has been loaded since. */
export const folded = (text: string, place: Place | undefined, host: StepHost, draw: (text: string) => unknown) =>
  html`<rl-fold .text=${text} .place=${place} .host=${host} .draw=${draw}></rl-fold>`;

function terminal({ text, dropped }: Extract<Part, { type: 'terminal' }>, place: Place, host: StepHost) {
  const draw = (shown: string) => html`<pre class="terminal">${ansiNodes(shown, host.palette)}</pre>`;
  if (!dropped) return folded(text, place, host, draw);
  return html`${folded(text.slice(0, dropped.at), place, host, draw)}
    <div class="fold">${l10n.t('{0} were not recorded', format.bytes(dropped.bytes))}</div>
    ${dropped.at < text.length ? folded(text.slice(dropped.at), place, host, draw) : nothing}`;
}
