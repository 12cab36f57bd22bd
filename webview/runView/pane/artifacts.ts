import * as l10n from '@vscode/l10n';
import { type PropertyValues, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { type ArtifactKind, MOST_MEDIA_BYTES, artifactKind } from '../../../src/protocol/artifactKind.js';
import type { ArtifactContent, EpisodeDetail } from '../../../src/protocol/runView.js';
import { csvRows } from '../../csv.js';
import { PageElement, emit, icon } from '../../element.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';

export type LoadArtifact = (episode: number, artifact: string, signal: AbortSignal) => Promise<ArtifactContent>;

/** What of a table is shown. */
const ROWS = 200;
const COLUMNS = 30;

const ICONS: Readonly<Record<ArtifactKind, string>> = { image: 'file-media', video: 'device-camera-video', table: 'table', text: 'file' };

function kindName(path: string): string {
  switch (artifactKind(path).kind) {
    case 'image': return l10n.t('image');
    case 'video': return l10n.t('video');
    case 'table': return l10n.t('table');
    case 'text': return /\.(\w{1,8})$/.exec(path)?.[1]?.toLowerCase() ?? l10n.t('file');
  }
}

/** The files that were kept, and the one that is looked at. */
@customElement('rl-episode-artifacts')
export class EpisodeArtifacts extends PageElement {
  @property({ attribute: false }) detail!: EpisodeDetail;
  @property({ attribute: false }) load!: LoadArtifact;
  /** Whether the reader sees it: nothing is read for a tab that is behind. */
  @property({ attribute: false }) shown = false;
  /** Path of the one that is looked at; kept from one episode to the next. */
  @state() private chosen?: string;
  @state() private content?: ArtifactContent;
  @state() private problem?: string;
  @state() private url?: string;
  #asked = '';
  #request?: AbortController;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#request?.abort();
    this.#show(undefined);
    this.#asked = '';
  }

  protected override willUpdate(_changed: PropertyValues<this>): void {
    const path = this.#path;
    const asked = JSON.stringify([this.detail.record.episode, path]);
    if (!this.shown || path === undefined || asked === this.#asked) return;
    this.#asked = asked;
    void this.#read(path);
  }

  get #path(): string | undefined {
    const { artifacts } = this.detail;
    return (artifacts.find(({ path }) => path === this.chosen) ?? artifacts[0])?.path;
  }

  #show(url: string | undefined): void {
    if (this.url !== undefined) URL.revokeObjectURL(this.url);
    this.url = url;
  }

  async #read(path: string): Promise<void> {
    this.#request?.abort();
    const request = (this.#request = new AbortController());
    try {
      const content = await this.load(this.detail.record.episode, path, request.signal);
      const { kind, mediaType } = artifactKind(path);
      this.#show((kind === 'image' || kind === 'video') && content.bytes.length > 0 ? URL.createObjectURL(new Blob([content.bytes as Uint8Array<ArrayBuffer>], { type: mediaType })) : undefined);
      this.content = content;
      this.problem = undefined;
    } catch (error) {
      if (request.signal.aborted) return;
      this.#show(undefined);
      this.content = undefined;
      this.problem = error instanceof Error ? error.message : String(error);
    }
  }

  override render() {
    const { artifacts, record } = this.detail;
    if (artifacts.length === 0) return html`<p class="pane-empty">${l10n.t('No files were kept.')}</p>`;
    const more = record.artifacts - artifacts.length;
    const path = this.#path!;
    return html`<ul class="artifacts" aria-label=${l10n.t('Artifacts')} @keydown=${this.#onKey}>
        ${artifacts.map(
          ({ path: each, size }) => html`<li>
            <button type="button" class="artifact" aria-pressed=${each === path ? 'true' : 'false'} @click=${() => (this.chosen = each)}>
              ${icon(ICONS[artifactKind(each).kind])} <span class="artifact-name">${oneLine(each)}</span> <span class="artifact-kind">${kindName(each)}</span> <span class="figures">${format.bytes(size)}</span>
            </button>
          </li>`,
        )}
      </ul>
      ${more > 0 ? html`<p class="output-cut">${l10n.t('{0} more are in the folder of the run.', format.integer(more))}</p>` : nothing}
      <div class="artifact-actions" role="toolbar" aria-label=${l10n.t('Actions of the artifact')}>
        ${this.#button('go-to-file', l10n.t('Open'), 'episode-open', { artifact: path })} ${this.#button('diff', l10n.t('Compare…'), 'artifact-compare', { artifact: path })}
        ${this.#button('save-all', l10n.t('Save All…'), 'artifacts-save', {})}
      </div>
      <div class="artifact-preview" role="region" aria-label=${l10n.t('Preview of {0}', oneLine(path))} tabindex="0">${this.#preview(path)}</div>`;
  }

  #button(glyph: string, name: string, type: string, what: object) {
    return html`<button type="button" class="toolbar-button" @click=${() => emit(this, type, { episode: this.detail.record.episode, ...what })}>${icon(glyph)} ${name}</button>`;
  }

  #preview(path: string) {
    const { content, problem, url } = this;
    if (problem !== undefined) return html`<div class="notice" role="alert">${icon('error', 'tone-error')} <span>${l10n.t('Failed to read the file: {0}', problem)}</span></div>`;
    if (!content) return nothing;
    const { kind } = artifactKind(path);
    if (kind === 'image' || kind === 'video') {
      if (url === undefined) return html`<p class="pane-empty">${content.size === 0 ? l10n.t('The file is empty.') : l10n.t('More than {0} are not shown here.', format.bytes(MOST_MEDIA_BYTES))}</p>`;
      return kind === 'image' ? html`<img src=${url} alt=${oneLine(path)} @error=${this.#notShown} />` : html`<video src=${url} controls aria-label=${oneLine(path)} @error=${this.#notShown}></video>`;
    }
    if (content.size === 0) return html`<p class="pane-empty">${l10n.t('The file is empty.')}</p>`;
    if (content.bytes.includes(0)) return html`<p class="pane-empty">${l10n.t('The file is no text.')}</p>`;
    const text = new TextDecoder().decode(content.bytes);
    const cut = content.size - content.bytes.length;
    return html`${kind === 'table' ? this.#table(csvRows(text, path.toLowerCase().endsWith('.tsv') ? '\t' : ',', ROWS + 1)) : html`<pre class="output">${text}</pre>`}
      ${cut > 0 ? html`<p class="output-cut">${l10n.t('{0} bytes are not shown.', format.integer(cut))}</p>` : nothing}`;
  }

  readonly #notShown = () => (this.problem = l10n.t('it is not what its name says, or in a format that cannot be shown'));

  #table([head = [], ...rows]: readonly string[][]) {
    const cells = (row: readonly string[]) => row.slice(0, COLUMNS);
    const isNumber = (cell: string) => cell.trim() !== '' && Number.isFinite(Number(cell));
    return html`<table class="csv">
        <thead><tr>${cells(head).map((cell) => html`<th scope="col">${oneLine(cell, 200)}</th>`)}</tr></thead>
        <tbody>${rows.slice(0, ROWS).map((row) => html`<tr>${cells(row).map((cell) => html`<td class=${isNumber(cell) ? 'numeric figures' : ''}>${oneLine(cell, 400)}</td>`)}</tr>`)}</tbody>
      </table>
      ${rows.length >= ROWS ? html`<p class="output-cut">${l10n.t('The first {0} rows.', ROWS)}</p>` : nothing} ${head.length > COLUMNS ? html`<p class="output-cut">${l10n.t('The first {0} of {1} columns.', COLUMNS, head.length)}</p>` : nothing}`;
  }

  readonly #onKey = (event: KeyboardEvent) => {
    const buttons = [...this.querySelectorAll<HTMLButtonElement>('.artifact')];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    const button = to === undefined ? undefined : buttons[to];
    if (at < 0 || !button) return;
    event.preventDefault();
    button.focus();
    button.click();
  };
}
