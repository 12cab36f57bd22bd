import * as l10n from '@vscode/l10n';
import { html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { BlobRef } from '../../../src/protocol/traceView.js';
import { PageElement } from '../../element.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';
import type { StepHost } from './host.js';

/** Formats that hold a picture and nothing else. An SVG is a document. */
const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/bmp', 'image/avif'];

/** A picture of the trace. Its bytes come by request; while the next one is on its way, the one before stays. */
@customElement('rl-image')
export class TraceImage extends PageElement {
  @property({ attribute: false }) image!: BlobRef;
  @property({ attribute: false }) alt = '';
  @property({ attribute: false }) host!: StepHost;
  @state() private url?: string;
  @state() private problem?: string;
  @state() private size = '';
  #request?: AbortController;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    const before = changed.get('image') as BlobRef | undefined;
    if (changed.has('image') && before?.blob !== this.image.blob) void this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#request?.abort();
    this.#show(undefined);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated && this.url === undefined) void this.#load();
  }

  #show(url: string | undefined): void {
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = url;
  }

  async #load(): Promise<void> {
    this.#request?.abort();
    const request = (this.#request = new AbortController());
    const { image } = this;
    try {
      if (!TYPES.includes(image.mediaType)) throw new Error(l10n.t('{0} is not shown here', oneLine(image.mediaType, 60)));
      const bytes = await this.host.blob(image, request.signal);
      if (request.signal.aborted) return;
      const url = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: image.mediaType }));
      // Decoded first, so that nothing is blank between two frames.
      const loaded = new Image();
      loaded.src = url;
      await loaded.decode();
      if (request.signal.aborted) {
        URL.revokeObjectURL(url);
        return;
      }
      this.#show(url);
      this.size = `${loaded.naturalWidth} \u00d7 ${loaded.naturalHeight}`;
      this.problem = undefined;
    } catch (error) {
      if (request.signal.aborted) return;
      this.#show(undefined);
      this.problem = error instanceof Error ? error.message : String(error);
    }
  }

  override render() {
    if (this.problem !== undefined) return html`<p class="secondary">${l10n.t('Failed to show the image: {0}', this.problem)}</p>`;
    const { bytes } = this.image;
    const facts = [this.size, bytes === undefined ? '' : format.bytes(bytes)].filter(Boolean).join(', ');
    return html`<figure class="picture" aria-busy=${this.url ? 'false' : 'true'}>
      ${this.url ? html`<img src=${this.url} alt=${oneLine(this.alt, 300) || l10n.t('Image of the step')} title=${facts} />` : nothing}
    </figure>`;
  }
}
