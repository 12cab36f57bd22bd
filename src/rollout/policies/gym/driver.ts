/** A Gymnasium environment in a sandbox, driven from outside. */
import { PassThrough } from 'node:stream';
import { SandboxError } from '../../../sandbox/errors.js';
import type { ExitStatus } from '../../../sandbox/provider.js';
import type { Content } from '../../../trace/events.js';
import { LinePeer, LinesEnded } from '../../lines.js';
import { consume } from '../../output.js';
import type { Stage } from '../../stage.js';
import { EpisodeLimit } from '../policy.js';
import { PROGRAM } from './program.js';

/** There is no environment to act in: the template's fault, or the image's. */
export class EnvironmentMissing extends SandboxError {
  override readonly retryable = false;
}

/** What one environment gave for a step. A reward that is not finite is text. */
export interface Transition {
  readonly action: Content;
  readonly observation: Content;
  readonly reward: number | string;
  readonly terminated: boolean;
  readonly truncated: boolean;
  readonly info: Content;
  readonly frames: readonly (string | { readonly $image: string })[];
}
export type Beginning = Pick<Transition, 'observation' | 'info' | 'frames'>;
export interface Spaces {
  readonly action: Content;
  readonly observation: Content;
}

export interface EnvironmentSettings {
  readonly env: string;
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly render: string | null;
  /** How many environments side by side; 0 for one that is no vector. */
  readonly vector: number;
  readonly seed: number;
}

export class GymDriver {
  private readonly peer: LinePeer;
  private readonly exit: Promise<ExitStatus>;
  private readonly drained: Promise<unknown>;

  constructor(private readonly stage: Stage) {
    const { sandbox, redactor, output } = stage.options;
    const input = new PassThrough();
    const child = sandbox.exec(['python3', '-u', '-c', PROGRAM], { env: stage.env, stdin: input, signal: stage.signal });
    this.peer = new LinePeer(input, redactor.clean(child.stdout));
    this.exit = child.exit;
    this.exit.catch(() => undefined);
    this.drained = consume(redactor.clean(child.stderr), output.stderr).catch(() => undefined);
  }

  /** Rejects with `EnvironmentMissing`. */
  async make(settings: EnvironmentSettings): Promise<Spaces> {
    return this.ask<Spaces>({ op: 'make', ...settings }, (why) => new EnvironmentMissing(`cannot make the environment ${settings.env}: ${why}${/No module named '(gymnasium|numpy)'/.test(why) ? '; install it under `packages`, or take an image that has it' : ''}`));
  }

  /** One for each environment of a vector. */
  reset(seed: number): Promise<readonly Beginning[]> {
    return this.ask({ op: 'reset', seed }, (why) => new EnvironmentMissing(`the environment cannot be reset: ${why}`));
  }

  /** Rejects with an `EpisodeLimit` if the environment breaks on it. */
  step(action: { readonly random: true } | { readonly action: Content }): Promise<readonly Transition[]> {
    return this.ask<readonly Transition[]>({ op: 'step', ...action }, broken).catch((error: unknown) => {
      // What was earned until then is no return of an episode.
      this.stage.return = null;
      throw error;
    });
  }

  async close(): Promise<void> {
    this.peer.send({ op: 'close' });
    this.peer.end();
    await this.exit.catch(() => undefined);
    await this.drained;
  }

  private async ask<T>(request: object, failed: (why: string) => Error): Promise<T> {
    this.peer.send(request);
    let line: string;
    try {
      line = await this.peer.receive();
    } catch (error) {
      if (!(error instanceof LinesEnded)) throw error;
      const { code, killedBy } = await this.exit;
      await this.drained;
      if (killedBy) throw new EpisodeLimit(killedBy, `was killed for using more than its ${killedBy} limit`);
      if (code === 127) throw new EnvironmentMissing('there is no python3 in the sandbox');
      throw failed(`its process ended with exit code ${code}`);
    }
    const answer = parse<T>(line);
    if (answer === undefined) throw failed('it wrote what is not JSON');
    if ('error' in answer) throw failed(answer.error);
    return answer.ok;
  }
}

const broken = (why: string): EpisodeLimit => new EpisodeLimit('environment', `was ended by its environment, which broke: ${why}`);

function parse<T>(line: string): { readonly ok: T } | { readonly error: string } | undefined {
  try {
    return JSON.parse(line) as { readonly ok: T } | { readonly error: string };
  } catch {
    return undefined;
  }
}
