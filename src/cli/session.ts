/** What every command needs: an engine, where output goes, and a clean end on Ctrl-C. */
import { setMaxListeners } from 'node:events';
import { Engine, shareGpus } from '../engine/engine.js';
import { ProviderUnavailable } from '../sandbox/errors.js';
import { findPlace, gpuFolder } from '../runner/place.js';
import { findRoot } from '../store/layout.js';
import { EXIT, UsageError, describeFailure, failureObject } from './failure.js';
import { coloured, plainJson } from './plain.js';

export interface CommonOptions {
  readonly root?: string;
  readonly json?: boolean;
}

export class Interrupted extends Error {
  constructor() {
    super('cancelled');
  }
}

export class Session {
  private readonly controller = new AbortController();

  private constructor(
    readonly engine: Engine,
    readonly json: boolean,
  ) {
    setMaxListeners(0, this.controller.signal);
  }

  /** Aborts at the first Ctrl-C, SIGTERM or SIGHUP. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  print(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** For people only: silent with `--json`, and never on standard output. */
  note(text: string): void {
    if (!this.json) process.stderr.write(`${text}\n`);
  }

  result(object: unknown, text: () => string): void {
    // Also what lies under .rlenv may have been written by somebody else.
    this.print(this.json ? plainJson(object) : coloured(text()));
  }

  /** Runs a command to its end and sets the exit code. The second signal ends the process at once: sandboxes do not outlive it. */
  static async run(options: CommonOptions, command: (session: Session) => Promise<number | void>): Promise<void> {
    const root = options.root ?? (await findRoot(process.cwd()));
    const engine = await Engine.open({ root, log: (message) => process.env.RL_SANDBOXES_DEBUG && process.stderr.write(`${message}\n`) });
    shareGpus(async () => gpuFolder(await findPlace()));
    const session = new Session(engine, options.json ?? false);
    const stop = (): void => {
      if (session.signal.aborted) process.exit(EXIT.cancelled);
      session.note('\nCancelling: what runs is torn down, what is finished stays. Once more quits at once.');
      session.controller.abort(new Interrupted());
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
    try {
      process.exitCode = (await command(session)) ?? EXIT.done;
    } catch (error) {
      process.exitCode = session.signal.aborted ? EXIT.cancelled : error instanceof UsageError ? EXIT.usage : error instanceof ProviderUnavailable ? EXIT.unavailable : EXIT.failed;
      if (!session.signal.aborted || !(error instanceof Interrupted)) {
        if (session.json) session.print(plainJson(failureObject(error)));
        else process.stderr.write(`${describeFailure(error)}\n`);
      }
    } finally {
      await engine.close().catch(() => undefined);
    }
  }
}
