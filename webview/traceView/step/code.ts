import { type TemplateResult, html } from 'lit';
import { BIDI_CONTROLS, wellFormed } from '../../text.js';
import type { Highlight } from './highlight.js';
import type { StepHost } from './host.js';

/** Longer code is not coloured. */
const MOST = 60_000;
// Not line ends and tabs. Marks that turn the direction of text round make code read as other code.
const UNPRINTABLE = new RegExp(`[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f${BIDI_CONTROLS}]`, 'g');

let highlight: Highlight | undefined;
let loading: Promise<void> | undefined;

/** Text whose every character can be seen. */
export function visible(text: string): string {
  return wellFormed(text).replaceAll('\r\n', '\n').replace(UNPRINTABLE, '\ufffd');
}

/** Code in the colours of its language. The colours come once the parser has been loaded. */
export function code(text: string, language: string, host: StepHost): TemplateResult {
  const shown = visible(text);
  if (!highlight && !loading) {
    loading = import('./highlight.js').then((loaded) => {
      ({ highlight } = loaded);
      host.redraw();
    }, () => undefined);
  }
  const tokens = shown.length > MOST ? undefined : highlight?.(shown, language);
  return html`<pre class="code">${tokens ?? shown}</pre>`;
}
