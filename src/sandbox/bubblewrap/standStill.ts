/** Makes the processes of a sandbox stand still for a while, so that what they have written can be copied. */
import { setTimeout as pause } from 'node:timers/promises';
import { SandboxError } from '../errors.js';
import { descendants, processState } from './processes.js';

/** How long processes may take to stop: one that waits for a device cannot. */
const PATIENCE_MS = 5_000;

export class StandStill {
  private readonly stopped: number[] = [];

  /** `joined`: processes outside that have one inside, for which they wait. */
  constructor(
    private readonly gate: number,
    private readonly joined: readonly number[],
  ) {}

  async during<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      await this.stop(signal);
      return await work();
    } finally {
      this.goOn();
    }
  }

  /**
   * Level by level: a child is stopped when its parent stands. One that waits for it and is only about to stop would still see it stop: a shell takes that
   * for stopped by a person, and nsenter, which waits outside, then stops itself after all others go on.
   */
  private async stop(signal: AbortSignal): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const inside = (await Promise.all([this.gate, ...this.joined].map(descendants))).flat();
      const pids = [...new Set([...this.joined, ...inside])];
      const states = await Promise.all(pids.map(processState));
      const moving = new Map(pids.flatMap((pid, index) => (states[index] && !/[TtZX]/.test(states[index].state) ? [[pid, states[index].parent]] : [])));
      if (moving.size === 0) return;
      for (const [pid, parent] of moving) {
        if (moving.has(parent)) continue;
        if (!this.stopped.includes(pid)) this.stopped.push(pid);
        send(pid, 'SIGSTOP');
      }
      signal.throwIfAborted();
      if (Date.now() > deadline) throw new SandboxError('the processes of the sandbox do not stand still for the snapshot');
      await pause(2);
    }
  }

  /** Children first. */
  private goOn(): void {
    for (const pid of [...this.stopped].reverse()) send(pid, 'SIGCONT');
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone meanwhile.
  }
}
