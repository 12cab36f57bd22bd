import * as l10n from '@vscode/l10n';
import { type TemplateResult, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { PageElement, icon } from '../../element.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';
import { visible } from './code.js';

/** Members shown at once; the others on demand. */
const PAGE = 100;
/** A value with fewer members than this, in all, is shown open. */
const SMALL = 24;
const LONG_TEXT = 240;

type Entries = readonly (readonly [string, unknown])[];

function entriesOf(value: unknown): Entries | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return Array.isArray(value) ? value.map((item, index) => [String(index), item] as const) : Object.entries(value);
}

/** Members of a value and of those in it; stops counting where it is not small. */
function size(value: unknown, limit = SMALL): number {
  let total = 0;
  for (const [, member] of entriesOf(value) ?? []) {
    total += 1 + size(member, limit - total);
    if (total >= limit) return total;
  }
  return total;
}

/** A JSON value as a tree whose branches exist once they are opened. */
@customElement('rl-json')
export class JsonTree extends PageElement {
  @property({ attribute: false }) value: unknown;
  /** Its key in the value around it. */
  @property({ attribute: false }) name?: string;
  @property({ attribute: false }) depth = 0;
  @state() private open?: boolean;
  @state() private shown = PAGE;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('value')) return;
    this.open = undefined;
    this.shown = PAGE;
  }

  override render(): TemplateResult {
    const entries = entriesOf(this.value);
    const key = this.name === undefined ? nothing : html`<span class="json-key">${oneLine(this.name, 200)}</span><span class="json-punctuation">: </span>`;
    const line = flat(this.value);
    if (line !== undefined) return html`<div class="json-line">${key}${line}</div>`;
    if (!entries || entries.length === 0) return html`<div class="json-line">${key}${scalar(this.value)}</div>`;
    const open = this.open ?? (this.depth === 0 || size(this.value) < SMALL);
    return html`<div class="json-line">
        <button type="button" class="json-toggle" aria-expanded=${open ? 'true' : 'false'} @click=${() => (this.open = !open)}>
          ${icon(open ? 'chevron-down' : 'chevron-right')}${key}${open ? html`<span class="json-count">${summary(this.value, entries)}</span>` : preview(this.value, entries)}
        </button>
      </div>
      ${open
        ? html`<div class="json-children">
            ${entries.slice(0, this.shown).map(([name, value]) => html`<rl-json .name=${name} .value=${value} .depth=${this.depth + 1}></rl-json>`)}
            ${entries.length > this.shown
              ? html`<button type="button" class="link" @click=${() => (this.shown += 10 * PAGE)}>${l10n.t('{0} more', format.integer(entries.length - this.shown))}</button>`
              : nothing}
          </div>`
        : nothing}`;
  }
}

/** A short list of plain values on one line, as a vector is written. */
function flat(value: unknown): TemplateResult | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > 64) return undefined;
  if (value.some((item) => typeof item === 'object' && item !== null) || JSON.stringify(value).length > 120) return undefined;
  return html`<span class="json-punctuation">[</span>${value.map((item, index) => html`${index === 0 ? nothing : html`<span class="json-punctuation">, </span>`}${scalar(item)}`)}<span class="json-punctuation">]</span>`;
}

function scalar(value: unknown): TemplateResult {
  if (typeof value === 'string') return html`<span class="json-string">${value.length > LONG_TEXT || value.includes('\n') ? html`<span class="json-text">${visible(value)}</span>` : JSON.stringify(visible(value))}</span>`;
  if (typeof value === 'number') return html`<span class="json-number">${String(value)}</span>`;
  if (Array.isArray(value)) return html`<span class="json-count">[]</span>`;
  if (typeof value === 'object' && value !== null) return html`<span class="json-count">{}</span>`;
  return html`<span class="json-word">${String(value)}</span>`;
}

const summary = (value: unknown, entries: Entries): string =>
  Array.isArray(value) ? `[${format.integer(entries.length)}]` : `{${format.integer(entries.length)}}`;

/** What a closed branch holds, on one line. */
function preview(value: unknown, entries: Entries): TemplateResult {
  const few = entries.slice(0, 6).map(([name, member]) => {
    const inner = entriesOf(member) ? (Array.isArray(member) ? '[\u2026]' : '{\u2026}') : oneLine(JSON.stringify(member) ?? '', 40);
    return Array.isArray(value) ? inner : `${oneLine(name, 30)}: ${inner}`;
  });
  const text = few.join(', ') + (entries.length > 6 ? ', \u2026' : '');
  return html`<span class="json-preview">${Array.isArray(value) ? `[${text}]` : `{${text}}`}</span>`;
}
