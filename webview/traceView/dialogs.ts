/** What lies over the page for a moment: the list of keys, and the question where to go. */
import * as l10n from '@vscode/l10n';
import { html } from 'lit';
import { customElement, property, query } from 'lit/decorators.js';
import { PageElement, emit, icon } from '../element.js';
import * as format from '../format.js';
import { KEYS } from './keys.js';
import './dialogs.css';

abstract class Dialog extends PageElement {
  @query('dialog') protected readonly dialog!: HTMLDialogElement;

  protected override firstUpdated(): void {
    this.dialog.showModal();
  }

  protected readonly closed = () => emit(this, 'dialog-close', undefined);

  /** A click on the page behind closes it. */
  protected readonly onClick = (event: Event) => {
    if (event.target === this.dialog) this.dialog.close();
  };
}

@customElement('rl-keys')
export class KeysHelp extends Dialog {
  override render() {
    return html`<dialog class="dialog" aria-labelledby="keys-title" @close=${this.closed} @click=${this.onClick}>
      <div class="dialog-content">
        <div class="dialog-head">
          <h2 id="keys-title">${l10n.t('Keys')}</h2>
          <button type="button" class="toolbar-button" aria-label=${l10n.t('Close')} @click=${() => this.dialog.close()}>${icon('close')}</button>
        </div>
        <dl class="keys">${KEYS.map(({ keys, does }) => html`<div><dt>${keys.map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${does()}</dd></div>`)}</dl>
      </div>
    </dialog>`;
  }
}

@customElement('rl-go-to')
export class GoTo extends Dialog {
  @property({ attribute: false }) total = 0;
  @query('input') private readonly input!: HTMLInputElement;

  override render() {
    return html`<dialog class="dialog" aria-label=${l10n.t('Go to Step')} @close=${this.closed} @click=${this.onClick}>
      <form class="dialog-content go-to" method="dialog" @submit=${this.#onSubmit}>
        <label for="go-to-input">${l10n.t('Go to step, from 0 to {0}', format.integer(Math.max(0, this.total - 1)))}</label>
        <input id="go-to-input" type="text" inputmode="numeric" autocomplete="off" autofocus />
      </form>
    </dialog>`;
  }

  readonly #onSubmit = () => {
    const text = this.input.value.replace(/[\s,_.]/g, '');
    if (/^-?\d{1,15}$/.test(text)) emit(this, 'go', Number(text));
  };
}
