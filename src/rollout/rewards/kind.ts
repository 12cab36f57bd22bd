/** What a kind of reward is given, and what it answers. */
import type { Readable } from 'node:stream';
import type { Sandbox } from '../../sandbox/provider.js';
import type { RewardComponentSpec, RewardType, Template } from '../../template/template.js';
import type { OutputCapture } from '../output.js';
import type { NamedNumber } from './json.js';

export type SpecOf<T extends RewardType> = Extract<RewardComponentSpec, { type: T }>;

/** An episode that has acted, as its verifiers see it. */
export interface RewardContext {
  /** The sandbox it acted in, still running. */
  readonly sandbox: Sandbox;
  readonly seed: number;
  readonly sample: number;
  readonly episode: number;
  /** Absent if the episode was cut short. */
  readonly exitCode?: number;
  /** Sum of the rewards of the steps; `null` if none had one, NaN if one was not finite. */
  readonly return?: number | null;
  readonly stdout: OutputCapture;
  /** Takes what all verifiers print, standard output and error together. */
  readonly verifierOutput: OutputCapture;
  /** Values by their name in the template. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Of whoever asked for the run: what programs of this machine are started with is taken from it. */
  readonly environment: NodeJS.ProcessEnv;
  /** Takes secrets out of a stream. */
  readonly clean: (stream: Readable) => Readable;
  /** A sandbox of the component's own image and setup; whoever asked for it discards it. */
  readonly openScoringSandbox: (component: SpecOf<'sandbox'>, signal: AbortSignal) => Promise<Sandbox>;
  readonly signal: AbortSignal;
}

export interface RewardValue {
  readonly value: number;
  /** What the value was made of, for a person: short. */
  readonly detail?: string;
  /** Further numbers, shown beside the value and not part of it. */
  readonly others?: readonly NamedNumber[];
}

/**
 * Computes one component. Throws `RewardFailure` where there is no value, `ExecTimeout` where the verifier took too long; every other
 * error is of the infrastructure, and the episode is tried again.
 */
export type RewardKind<T extends RewardType> = (spec: SpecOf<T>, context: RewardContext, template: Template) => Promise<RewardValue>;
