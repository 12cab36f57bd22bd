import * as l10n from '@vscode/l10n';
import { html } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { BlobRef, Place } from '../../../src/protocol/traceView.js';
import { ansiNodes } from '../../ansiView.js';
import { PageElement } from '../../element.js';
import * as format from '../../format.js';
import type { StepHost } from './host.js';

/** Larger texts are for an editor only. */
const MOST_BYTES = 4 * 2 ** 20;

/** A text that lies outside of the trace's line: its beginning, and the rest when it is asked for. */
@customElement('rl-long')
export class LongText extends PageElement {
  @property({ attribute: false }) content!: BlobRef;
  @property({ attribute: false }) place!: Place;
  @property({ attribute: false }) host!: StepHost;
  @state() private text?: string;
  @state() private state: 'closed' | 'loading' | 'failed' = 'closed';

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    const before = changed.get('content') as BlobRef | undefined;
    if (!changed.has('content') || before?.blob === this.content.blob) return;
    this.text = undefined;
    this.state = 'closed';
  }

  async #load(): Promise<void> {
    const { content } = this;
    this.state = 'loading';
    try {
      const bytes = await this.host.blob(content);
      if (content === this.content) this.text = new TextDecoder().decode(bytes);
    } catch {
      if (content === this.content) this.state = 'failed';
    }
  }

  override render() {
    const draw = (text: string) => html`<pre class="terminal">${ansiNodes(text, this.host.palette)}</pre>`;
    if (this.text !== undefined) return html`<rl-fold .text=${this.text} .place=${this.place} .host=${this.host} .draw=${draw}></rl-fold>`;
    const { head = '', bytes } = this.content;
    const small = bytes === undefined || bytes <= MOST_BYTES;
    return html`${head === '' ? '' : draw(head)}
      <div class="fold">
        ${this.state === 'failed' ? l10n.t('The rest could not be read.') : bytes === undefined ? l10n.t('A long text') : l10n.t('{0} in all', format.bytes(bytes))}
        ${small ? html`<button type="button" class="link" aria-disabled=${this.state === 'loading' ? 'true' : 'false'} @click=${() => void this.#load()}>${l10n.t('Show More')}</button>` : ''}
        <button type="button" class="link" @click=${() => this.host.openText(this.place)}>${l10n.t('Open in Editor')}</button>
      </div>`;
  }
}
