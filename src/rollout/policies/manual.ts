/** A person acts: each command is asked for when there is one, and what came of it is told. */
import type { CommandResult } from '../../trace/events.js';
import { runCommand } from './command.js';
import type { PolicyKind } from './policy.js';

/** A command, or that the episode is over and is to be scored. */
export type ManualAction = { readonly run: string } | { readonly python: string } | { readonly submit: true };

/** What came of a command; nothing came of a submission. */
export interface ManualAnswer extends Omit<CommandResult, 'stdout' | 'stderr'> {
  readonly stdout: string;
  readonly stderr: string;
  /** It did not end in time, or used too much. */
  readonly error?: string;
  readonly done: boolean;
}

interface Asked {
  readonly action: ManualAction;
  readonly answer: (answer: ManualAnswer) => void;
  readonly refuse: (error: Error) => void;
}

/** Where people's actions and the episodes of a run meet, whichever comes first. */
export class ManualSeats {
  private readonly asked = new Map<number, Asked[]>();
  private readonly waiting = new Map<number, () => void>();
  private readonly over = new Set<number>();
  private closed = false;

  /** Does something in an episode that is running, or about to. Rejects if it has ended. */
  act(episode: number, action: ManualAction): Promise<ManualAnswer> {
    return new Promise((answer, refuse) => {
      if (this.closed || this.over.has(episode)) return refuse(ended(episode));
      this.asked.set(episode, [...(this.asked.get(episode) ?? []), { action, answer, refuse }]);
      this.waiting.get(episode)?.();
    });
  }

  /** The next action of an episode. Rejects with the signal's reason. */
  async next(episode: number, signal: AbortSignal): Promise<Asked> {
    for (;;) {
      signal.throwIfAborted();
      const [first, ...rest] = this.asked.get(episode) ?? [];
      if (first) {
        this.asked.set(episode, rest);
        return first;
      }
      let stop!: () => void;
      await new Promise<void>((resolve) => {
        stop = resolve;
        this.waiting.set(episode, resolve);
        signal.addEventListener('abort', stop, { once: true });
      }).finally(() => {
        this.waiting.delete(episode);
        signal.removeEventListener('abort', stop);
      });
    }
  }

  leave(episode: number): void {
    this.over.add(episode);
    for (const { refuse } of this.asked.get(episode) ?? []) refuse(ended(episode));
    this.asked.delete(episode);
  }

  close(): void {
    this.closed = true;
    for (const episode of [...this.asked.keys()]) this.leave(episode);
  }
}

const ended = (episode: number): Error => new Error(`episode ${episode} has ended, or is not in this run`);

const COMMAND_TIMEOUT_MS = 10 * 60_000;

export const manual: PolicyKind = ({ seats }) => ({
  description: { name: 'manual', commandTimeout: COMMAND_TIMEOUT_MS },
  close: () => Promise.resolve(seats.close()),
  act: async (stage) => {
    const { episode } = stage.id;
    let asked: Asked | undefined;
    try {
      for (;;) {
        asked = await seats.next(episode, stage.signal);
        const { action, answer } = asked;
        if ('submit' in action) {
          answer({ stdout: '', stderr: '', done: true });
          return { status: 'completed' };
        }
        const ran = await ('run' in action ? runCommand(stage, action.run, 'sh', COMMAND_TIMEOUT_MS) : runCommand(stage, action.python, 'python', COMMAND_TIMEOUT_MS));
        const { text, ...gap } = ran.stdout.parts();
        const error = ran.timedOut ? 'timeout' : ran.killedBy;
        answer({ stdout: text, ...gap, stderr: ran.stderr.text(), ...(ran.exitCode === undefined ? {} : { exitCode: ran.exitCode }), ...(error === undefined ? {} : { error }), done: false });
        asked = undefined;
      }
    } catch (error) {
      asked?.refuse(error instanceof Error ? error : new Error(String(error)));
      throw error;
    } finally {
      seats.leave(episode);
    }
  },
});
