/** Plays steps one after the other, as a film of frames. */
const STEP_MS = 250;

export class Player {
  #timer?: ReturnType<typeof setTimeout>;
  #on = false;
  readonly #advance: () => Promise<boolean>;
  readonly #onChange: () => void;

  /** `advance` shows the next step and resolves when it can be seen; to false at the end. */
  constructor(advance: () => Promise<boolean>, onChange: () => void) {
    this.#advance = advance;
    this.#onChange = onChange;
  }

  get playing(): boolean {
    return this.#on;
  }

  play(speed: () => number): void {
    if (this.#on) return;
    this.#on = true;
    this.#onChange();
    const next = async (began: number): Promise<void> => {
      const more = await this.#advance().catch(() => false);
      if (!this.#on) return;
      if (!more) return this.pause();
      // What showing the step took is part of its time.
      this.#timer = setTimeout(() => void next(performance.now()), Math.max(0, STEP_MS / speed() - (performance.now() - began)));
    };
    void next(performance.now());
  }

  pause(): void {
    if (!this.#on) return;
    this.#on = false;
    clearTimeout(this.#timer);
    this.#onChange();
  }
}
