/** Where a policy acts: the sandbox of one episode, with a trace that records each step. */
import type { Readable } from 'node:stream';
import type { ExecOptions, Sandbox } from '../sandbox/provider.js';
import { ExecTimeout } from '../sandbox/errors.js';
import type { Action, CommandResult, Observation, StepEvent } from '../trace/events.js';
import type { TraceWriter } from '../trace/writer.js';
import type { EpisodeId } from './episode.js';
import { OutputCapture, consume } from './output.js';
import { EpisodeLimit } from './policies/policy.js';
import type { Past } from './retrace/past.js';
import type { Redactor } from './secrets.js';

/** Longest delay that a timer takes; a longer one would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** What came of a step; what is absent is `null`, `false` or nothing. */
export type StepResult = { readonly observation: Observation } & Partial<Pick<StepEvent, 'reward' | 'terminated' | 'truncated' | 'info' | 'spaces' | 'tokens' | 'cost' | 'files' | 'frames' | 'error'>>;

export interface StageOptions {
  readonly id: EpisodeId;
  readonly sandbox: Sandbox;
  readonly trace: TraceWriter;
  readonly redactor: Redactor;
  /** How long the episode may act, in milliseconds. */
  readonly timeoutMs: number;
  /** Takes what the episode prints, where its policy is one command. */
  readonly output: { readonly stdout: OutputCapture; readonly stderr: OutputCapture };
  readonly signal: AbortSignal;
}

/** How a command ended. `timedOut`: it was killed at its own deadline. */
export interface Ran {
  readonly stdout: OutputCapture;
  readonly stderr: OutputCapture;
  readonly exitCode?: number;
  readonly killedBy?: 'memory';
  readonly timedOut?: boolean;
}

export class Stage {
  /** Steps recorded so far. */
  steps = 0;
  /** Sum of the rewards of the steps; `null` if none had one. */
  return: number | null = null;
  /** What was done and said here before its policy came. */
  past: readonly Past[] = [];
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly relay = (): void => this.controller.abort(this.options.signal.reason);

  constructor(readonly options: StageOptions) {
    const { timeoutMs, signal } = options;
    this.timer = setTimeout(() => this.controller.abort(new EpisodeLimit('timeout', `ran longer than ${timeoutMs / 1000} s`)), Math.min(timeoutMs, LONGEST_DELAY_MS));
    // Not `AbortSignal.any`: the outer signal lives as long as the run, and what hangs on it must be taken off again.
    signal.addEventListener('abort', this.relay, { once: true });
    if (signal.aborted) this.relay();
  }

  /** Aborts when the run is cancelled, or with an `EpisodeLimit` when the episode's time is up. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get id(): EpisodeId {
    return this.options.id;
  }

  get trace(): TraceWriter {
    return this.options.trace;
  }

  /** Ends its timer; the sandbox stays. */
  close(): void {
    clearTimeout(this.timer);
    this.options.signal.removeEventListener('abort', this.relay);
  }

  /** Variables that every command of the episode has. */
  get env(): Record<string, string> {
    const { seed, sample, episode } = this.id;
    return { RL_SEED: String(seed), RL_SAMPLE: String(sample), RL_EPISODE: String(episode) };
  }

  /**
   * Takes a step: `work` does what `action` says and tells what came of it. The step is recorded either way; if `work` throws, with its error.
   * `as: 0` for a reset, which counts as no step.
   */
  async step(action: Action, work: () => Promise<StepResult>, as?: 0): Promise<StepResult> {
    this.signal.throwIfAborted();
    const { trace } = this;
    const step = as ?? this.steps + 1;
    const at = Date.now();
    const start = performance.now();
    trace.begin({ step, at, action });
    let result: StepResult;
    let thrown: unknown;
    try {
      result = await work();
    } catch (error) {
      thrown = error ?? new Error('no reason');
      result = { observation: { kind: 'none' }, truncated: error instanceof EpisodeLimit, error: this.options.redactor.text(error instanceof Error ? error.message : String(error)) };
    }
    this.record({ at, ms: Math.round((performance.now() - start) * 1000) / 1000, step, action }, result);
    if (thrown !== undefined) throw thrown;
    await trace.drained();
    return result;
  }

  /** Records a step that is over; `step` counts it. */
  record(step: Pick<StepEvent, 'at' | 'ms' | 'step' | 'lane' | 'action'>, { observation, reward = null, terminated = false, truncated = false, ...rest }: StepResult): void {
    if (step.step > 0 && step.lane === undefined) this.steps = Math.max(this.steps, step.step);
    if (reward !== null && step.lane === undefined) this.return = (this.return ?? 0) + reward;
    this.trace.write({ type: 'step', ...step, observation, reward: Number.isFinite(reward) ? reward : null, terminated, truncated, ...rest });
  }

  /**
   * Runs a command to its end, without secrets in its output, and at the latest to `timeoutMs`. Rejects with the reason of the stage's signal, or
   * with an error of the infrastructure.
   */
  async run(argv: readonly string[], { keep, into, ...options }: Omit<ExecOptions, 'signal'> & { readonly keep?: number; readonly into?: { stdout: OutputCapture; stderr: OutputCapture } } = {}): Promise<Ran> {
    const stdout = into?.stdout ?? new OutputCapture({ head: keep, tail: keep });
    const stderr = into?.stderr ?? new OutputCapture({ head: keep, tail: keep });
    const { redactor, sandbox } = this.options;
    const child = sandbox.exec(argv, { ...options, env: { ...this.env, ...options.env }, signal: this.signal });
    const drain = (stream: Readable, capture: OutputCapture) => consume(redactor.clean(stream), capture);
    const drained = Promise.all([drain(child.stdout, stdout), drain(child.stderr, stderr)]);
    // Whichever way it ends, neither promise may be left without a handler.
    drained.catch(() => undefined);
    try {
      const { code, killedBy } = await child.exit;
      await drained;
      return { stdout, stderr, exitCode: code, killedBy };
    } catch (error) {
      await drained.catch(() => undefined);
      if (!(error instanceof ExecTimeout)) throw error;
      return { stdout, stderr, timedOut: true };
    }
  }

  /** A command's end as a trace holds it. */
  result({ stdout, stderr, exitCode }: Ran): CommandResult {
    const { text, dropped, droppedAt } = stdout.parts();
    return {
      stdout: this.trace.content(text),
      ...(dropped === undefined ? {} : { dropped, droppedAt }),
      ...(stderr.total > 0 ? { stderr: this.trace.content(stderr.text()) } : {}),
      ...(exitCode === undefined ? {} : { exitCode }),
    };
  }
}
