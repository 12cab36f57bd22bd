/** A sandbox that is only read from, which is nobody's business: made when it is first asked for, ended when nobody has been for a while. */
import { discard } from '../../rollout/teardown.js';
import type { Sandbox } from '../../sandbox/provider.js';

const IDLE_MS = 60_000;

export class Reader {
  private current: { readonly sandbox: Promise<Sandbox>; readonly timer: NodeJS.Timeout } | undefined;
  /** Of the sandbox, while there is one. */
  id: string | undefined;

  constructor(private readonly restore: () => Promise<Sandbox>) {}

  /** Rejects as the provider does; the next time it is tried again. */
  sandbox(): Promise<Sandbox> {
    if (!this.current) {
      const sandbox = this.restore();
      this.current = { sandbox, timer: setTimeout(() => void this.end(), IDLE_MS) };
      sandbox.then(
        ({ id }) => (this.id = id),
        () => this.end(),
      );
    }
    this.current.timer.refresh();
    return this.current.sandbox;
  }

  async end(): Promise<void> {
    const ending = this.current;
    this.current = undefined;
    clearTimeout(ending?.timer);
    const sandbox = await ending?.sandbox.catch(() => undefined);
    if (sandbox) await discard(sandbox);
    if (!this.current) this.id = undefined;
  }
}
