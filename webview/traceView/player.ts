/** Plays steps one after the other, as a film of frames. */
const STEP_MS = 250;

export class Player {
  #timer?: ReturnType<typeof setTimeout>;
  #on = false;
  /** Of the last that was begun. One that waited for its step when it was paused must not go on with another that was begun meanwhile. */
  #turn = 0;
  readonly #advance: (goesOn: () => boolean) => Promise<boolean>;
  readonly #onChange: () => void;

  /** `advance` shows the next step, if it `goesOn` when that can be seen, and resolves then; to false at the end. */
  constructor(advance: (goesOn: () => boolean) => Promise<boolean>, onChange: () => void) {
    this.#advance = advance;
    this.#onChange = onChange;
  }

  get playing(): boolean {
    return this.#on;
  }

  play(speed: () => number): void {
    if (this.#on) return;
    this.#on = true;
    const turn = ++this.#turn;
    const goesOn = (): boolean => this.#on && turn === this.#turn;
    this.#onChange();
    const next = async (began: number): Promise<void> => {
      const more = await this.#advance(goesOn).catch(() => false);
      if (!goesOn()) return;
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
