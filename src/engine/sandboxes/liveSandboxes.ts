/** The sandboxes that an engine holds for people: opened, forked, or kept after their episode. All end with the engine. */
import type { Sandbox } from '../../sandbox/provider.js';
import { discard } from '../../rollout/teardown.js';
import { Held, type Making } from './held.js';

export interface LiveSandboxEvents {
  readonly onChange: () => void;
  readonly onExpiring: (sandbox: { readonly id: string; readonly provider: string }, remainingMs: number) => void;
}

/** There is no sandbox of that id here. */
export class NoSuchSandbox extends Error {
  constructor(id: string) {
    super(`there is no sandbox ${id.slice(0, 80)} here any more; only those that this engine has opened or kept can be worked in`);
    this.name = 'NoSuchSandbox';
  }
}

export class LiveSandboxes {
  private readonly held = new Map<string, Held>();
  private readonly ending = new AbortController();
  private waiting: (() => void)[] = [];

  constructor(private readonly events: LiveSandboxEvents) {}

  get size(): number {
    return this.held.size;
  }

  /** Aborts when the engine closes: nothing more is to be opened. */
  get closing(): AbortSignal {
    return this.ending.signal;
  }

  /** Takes a sandbox over, for some milliseconds, or with a negative number until somebody ends it. Rejects if the engine is closing; then it has been ended. */
  async hold(sandbox: Sandbox, making: Making, keepMs: number): Promise<Held> {
    if (this.closing.aborted) {
      await discard(sandbox);
      await making.cleanUp?.();
      throw this.closing.reason;
    }
    const held = new Held(sandbox, making, keepMs, {
      onChange: this.events.onChange,
      onExpiring: ({ sandbox: { info } }, remainingMs) => this.events.onExpiring(info, remainingMs),
      onEnded: () => this.forget(held),
    });
    this.held.set(held.id, held);
    this.events.onChange();
    return held;
  }

  list(): Held[] {
    return [...this.held.values()];
  }

  find(id: string): Held | undefined {
    return this.held.get(id);
  }

  /** @throws NoSuchSandbox */
  get(id: string): Held {
    const held = this.held.get(id);
    if (!held) throw new NoSuchSandbox(id);
    return held;
  }

  /** Resolves when none is left. */
  async empty(): Promise<void> {
    if (this.held.size > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  async close(): Promise<void> {
    this.ending.abort(new Error('the engine is closing'));
    await Promise.all(this.list().map((held) => held.terminate()));
  }

  private forget(held: Held): void {
    this.held.delete(held.id);
    this.events.onChange();
    if (this.held.size > 0) return;
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}
