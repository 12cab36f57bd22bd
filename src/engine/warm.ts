/** Sandboxes that stay after their episode, for a person to look into: each ends when its time is up, and all end with the engine. */
import { discard } from '../rollout/teardown.js';
import type { Sandbox } from '../sandbox/provider.js';

export class WarmSandboxes {
  private readonly kept = new Map<Sandbox, NodeJS.Timeout | undefined>();
  private waiting: (() => void)[] = [];

  constructor(private readonly onChange: () => void) {}

  get size(): number {
    return this.kept.size;
  }

  /** Keeps a sandbox for some milliseconds, or with -1 until somebody ends it. */
  keep(sandbox: Sandbox, milliseconds: number): void {
    this.kept.set(sandbox, milliseconds < 0 ? undefined : setTimeout(() => void this.end(sandbox), milliseconds));
    this.onChange();
  }

  /** Resolves when none is left. */
  async empty(): Promise<void> {
    if (this.kept.size > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  async close(): Promise<void> {
    await Promise.all([...this.kept.keys()].map((sandbox) => this.end(sandbox)));
  }

  private async end(sandbox: Sandbox): Promise<void> {
    clearTimeout(this.kept.get(sandbox));
    await discard(sandbox);
    this.kept.delete(sandbox);
    this.onChange();
    if (this.kept.size > 0) return;
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}
