/** One engine for each workspace folder, opened on first use. */
import type { Caller } from '../engine/caller.js';
import { Engine } from '../engine/engine.js';
import type { Work } from './api.js';

export interface EnginesEvents {
  readonly log: (message: string) => void;
  readonly onSandboxes: (root: string) => void;
  readonly onExpiring: (root: string, sandbox: { readonly id: string; readonly provider: string }, remainingMs: number) => void;
}

export class Engines {
  private readonly opening = new Map<string, Promise<Engine>>();
  /** Those that are open, by folder. */
  readonly open = new Map<string, Engine>();

  constructor(private readonly events: EnginesEvents) {}

  /** The engine of a folder as the caller sees it. */
  async get(root: string, caller: Caller): Promise<Engine> {
    let engine = this.opening.get(root);
    if (!engine) {
      const { log, onSandboxes, onExpiring } = this.events;
      engine = Engine.open({ root, log, onSandboxes: () => onSandboxes(root), onExpiring: (sandbox, remainingMs) => onExpiring(root, sandbox, remainingMs) });
      this.opening.set(root, engine);
      engine.then(
        (opened) => this.open.set(root, opened),
        () => this.opening.delete(root),
      );
    }
    return (await engine).for(caller);
  }

  get work(): Work {
    const all = [...this.open.values()];
    return { runs: all.reduce((sum, { live }) => sum + live.size, 0), kept: all.reduce((sum, { held }) => sum + held.size, 0) };
  }

  /** Cancels every run and ends every sandbox of this process. */
  async close(): Promise<void> {
    const engines = await Promise.allSettled(this.opening.values());
    await Promise.all(engines.flatMap((engine) => (engine.status === 'fulfilled' ? [engine.value.close()] : [])));
  }
}
