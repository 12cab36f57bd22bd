import { type TemplateResult, LitElement, html } from 'lit';

/**
 * An element that renders into the page itself, not into a shadow tree: the page has one style sheet and one icon font, and labels
 * and what they label can name each other.
 */
export class PageElement extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this;
  }
}

/** A codicon beside a text that says the same. */
export function icon(name: string, extra = ''): TemplateResult {
  return html`<span class="codicon codicon-${name} ${extra}" aria-hidden="true"></span>`;
}

/** Announces something to the page around. */
export function emit<T>(from: EventTarget, type: string, detail: T): void {
  from.dispatchEvent(new CustomEvent<T>(type, { detail, bubbles: true }));
}
