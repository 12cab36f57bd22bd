import * as l10n from '@vscode/l10n';
import { type TemplateResult, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { Place } from '../../../src/protocol/traceView.js';
import { PageElement } from '../../element.js';
import * as format from '../../format.js';
import type { StepHost } from './host.js';

/** A text longer than this is folded; what is shown of it then is its first and its last lines. */
const LINES = 60;
const HEAD_LINES = 24;
const TAIL_LINES = 16;
const CHARACTERS = 12_000;
const HEAD_CHARACTERS = 4000;
const TAIL_CHARACTERS = 3000;
/** Most that is shown at all: more is for an editor. */
const MOST = 400_000;

export interface Folded {
  readonly head: string;
  readonly tail: string;
  readonly hidden: string;
}

/** Head and tail of a long text, at ends of lines where there are some; undefined if it is not long. */
export function fold(text: string): Folded | undefined {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && lines <= LINES; at = text.indexOf('\n', at + 1)) lines++;
  if (text.length <= CHARACTERS && lines <= LINES) return undefined;
  const head = Math.min(lineEnd(text, HEAD_LINES), boundary(text, HEAD_CHARACTERS));
  const tail = Math.max(lineStart(text, TAIL_LINES), boundary(text, text.length - TAIL_CHARACTERS), head);
  return tail <= head ? undefined : { head: text.slice(0, head), hidden: text.slice(head, tail), tail: text.slice(tail) };
}

/** Not in the middle of a character. */
const boundary = (text: string, at: number): number => (/[\udc00-\udfff]/.test(text[at] ?? '') ? at - 1 : at);

function lineEnd(text: string, count: number): number {
  let at = -1;
  for (let line = 0; line < count; line++) {
    at = text.indexOf('\n', at + 1);
    if (at < 0) return text.length;
  }
  return at + 1;
}

function lineStart(text: string, count: number): number {
  let at = text.length;
  for (let line = 0; line <= count; line++) {
    at = text.lastIndexOf('\n', at - 1);
    if (at <= 0) return 0;
  }
  return at + 1;
}

const countLines = (text: string): number => text.split('\n').length;

/** A text that may be long: folded to its head and tail, with how much lies between, until it is asked for. */
@customElement('rl-fold')
export class Fold extends PageElement {
  @property({ attribute: false }) text = '';
  @property({ attribute: false }) host!: StepHost;
  @property({ attribute: false }) place?: Place;
  /** Draws a piece of it. */
  @property({ attribute: false }) draw!: (text: string) => unknown;
  @state() private open = false;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('text')) this.open = false;
  }

  override render() {
    const folded = fold(this.text);
    if (!folded) return this.draw(this.text);
    const { find } = this.host;
    // What is searched for must not stay hidden.
    if (this.open || (find !== '' && folded.hidden.toLowerCase().includes(find))) return this.#all();
    return html`${this.draw(folded.head)}
      <div class="fold">
        ${l10n.t('{0} lines, {1} characters are folded', format.integer(countLines(folded.hidden)), format.integer(folded.hidden.length))}
        <button type="button" class="link" @click=${() => (this.open = true)}>${l10n.t('Show All')}</button>
        ${this.#editor()}
      </div>
      ${this.draw(folded.tail)}`;
  }

  #all() {
    const cut = this.text.length - MOST;
    return html`${this.draw(cut > 0 ? this.text.slice(0, boundary(this.text, MOST)) : this.text)}
      <div class="fold">
        ${cut > 0 ? l10n.t('{0} characters more are in the editor', format.integer(cut)) : nothing}
        <button type="button" class="link" @click=${() => (this.open = false)}>${l10n.t('Fold')}</button>
        ${this.#editor()}
      </div>`;
  }

  #editor(): TemplateResult | typeof nothing {
    const { place } = this;
    return place ? html`<button type="button" class="link" @click=${() => this.host.openText(place)}>${l10n.t('Open in Editor')}</button>` : nothing;
  }
}
