import { type PropertyValues } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { PageElement, emit } from './element.js';

const LOW = 0.15;
const HIGH = 0.85;
const STEP = 0.02;

/** The line between two parts of a page: dragged, or moved with the arrow keys. */
@customElement('rl-splitter')
export class Splitter extends PageElement {
  /** Share of what comes before it. */
  @property({ attribute: false }) split = 0.5;
  @property({ attribute: false }) beside = true;
  /** What it sizes, for a screen reader. */
  @property({ attribute: false }) label = '';

  override connectedCallback(): void {
    super.connectedCallback();
    this.role = 'separator';
    this.tabIndex = 0;
    this.ariaValueMin = String(100 * LOW);
    this.ariaValueMax = String(100 * HIGH);
    this.addEventListener('pointerdown', this.#onPointerDown);
    this.addEventListener('pointermove', this.#onPointerMove);
    this.addEventListener('keydown', this.#onKey);
  }

  protected override updated(_changed: PropertyValues<this>): void {
    this.ariaLabel = this.label;
    this.ariaOrientation = this.beside ? 'vertical' : 'horizontal';
    this.ariaValueNow = String(Math.round(100 * this.split));
  }

  #move(split: number): void {
    emit(this, 'split', Math.min(HIGH, Math.max(LOW, split)));
  }

  readonly #onPointerDown = (event: PointerEvent) => {
    event.preventDefault();
    this.focus();
    this.setPointerCapture(event.pointerId);
  };

  readonly #onPointerMove = (event: PointerEvent) => {
    if (!this.hasPointerCapture(event.pointerId)) return;
    const box = this.parentElement!.getBoundingClientRect();
    this.#move(this.beside ? (event.clientX - box.left) / box.width : (event.clientY - box.top) / box.height);
  };

  readonly #onKey = (event: KeyboardEvent) => {
    const [less, more] = this.beside ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
    if (event.key === less) this.#move(this.split - STEP);
    else if (event.key === more) this.#move(this.split + STEP);
    else if (event.key === 'Home') this.#move(LOW);
    else if (event.key === 'End') this.#move(HIGH);
    else return;
    event.preventDefault();
  };
}
