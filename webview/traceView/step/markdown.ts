import { type TemplateResult, html, nothing } from 'lit';
import { oneLine } from '../../text.js';
import { code, visible } from './code.js';
import type { StepHost } from './host.js';
import type { Block } from './markdownTree.js';

/** Longer texts are shown as they are. */
const MOST = 200_000;

let parse: ((text: string) => readonly Block[] | undefined) | undefined;
let loading: Promise<void> | undefined;

/** What a person or a model wrote, as Markdown. The parser is loaded with the first text that may need it. */
export function markdown(text: string, host: StepHost): TemplateResult {
  const shown = visible(text);
  if (!/[*_`#>|~[\]\-+=\d]/.test(shown)) return plain(shown);
  if (!parse && !loading) {
    loading = import('./markdownTree.js').then((loaded) => {
      parse = loaded.parseMarkdown;
      host.redraw();
    }, () => undefined);
  }
  const blocks = shown.length > MOST ? undefined : parse?.(shown);
  return blocks ? html`<div class="markdown">${blocks.map((block) => draw(block, host))}</div>` : plain(shown);
}

const plain = (text: string) => html`<p class="plain">${text}</p>`;

/** Parts of the text become text nodes and elements of our own, nothing else. */
function draw(block: Block, host: StepHost): unknown {
  const children = () => block.children?.map((child) => draw(child, host));
  switch (block.type) {
    case 'text': return block.text;
    case 'paragraph': return html`<p>${children()}</p>`;
    case 'heading': return html`<p class="heading heading-${Math.min(block.level ?? 1, 4)}" role="heading" aria-level=${Math.min(6, (block.level ?? 1) + 2)}>${children()}</p>`;
    case 'strong': return html`<strong>${children()}</strong>`;
    case 'emphasis': return html`<em>${children()}</em>`;
    case 'deleted': return html`<del>${children()}</del>`;
    case 'codeSpan': return html`<code>${block.text}</code>`;
    case 'code': return code(block.text ?? '', block.language ?? '', host);
    case 'quote': return html`<blockquote>${children()}</blockquote>`;
    case 'list': return block.ordered ? html`<ol start=${block.start ?? 1}>${children()}</ol>` : html`<ul>${children()}</ul>`;
    case 'item': return html`<li>${block.checked === undefined ? nothing : block.checked ? '\u2611 ' : '\u2610 '}${children()}</li>`;
    case 'rule': return html`<hr />`;
    case 'break': return html`<br />`;
    case 'table': return html`<div class="table" tabindex="0"><table>${children()}</table></div>`;
    case 'row': return html`<tr>${children()}</tr>`;
    case 'head': return html`<th>${children()}</th>`;
    case 'cell': return html`<td>${children()}</td>`;
    case 'link': return link(block, children(), host);
  }
}

/** A button, not a link: nothing is opened but by the extension, after a person has seen the address. */
function link({ url = '' }: Block, children: unknown, host: StepHost) {
  if (!/^https?:\/\//i.test(url)) return html`<span class="dead-link" title=${oneLine(url, 300)}>${children}</span>`;
  return html`<button type="button" class="link" title=${oneLine(url, 300)} @click=${() => host.browse(url)}>${children}</button>`;
}
