/** What a policy is, and what one is made from. */
import type { StartEvent } from '../../trace/events.js';
import type { EpisodeStatus } from '../../store/records.js';
import type { PolicyName, PolicySpec, Template } from '../../template/template.js';
import type { Stage } from '../stage.js';
import type { OfferedChat } from './llm/chat.js';
import type { ManualSeats } from './manual.js';

/** How an episode has ended, in the eyes of who acted. */
export interface Ending {
  readonly status: Extract<EpisodeStatus, 'completed' | 'truncated'>;
  /** `<code>: <sentence>`; present if truncated, or if it came to something else than expected. */
  readonly cause?: string;
  /** Of a policy whose whole episode is one command. */
  readonly exitCode?: number;
}

/** Who acts in the episodes of a run: one for all of them, and any number of them at once. */
export interface Policy {
  /** What the first line of each trace says of it; no secrets. */
  readonly description: StartEvent['policy'];
  readonly tools?: StartEvent['tools'];
  /** Values that no trace, log or message may hold, besides those of the template. */
  readonly secrets?: Readonly<Record<string, string>>;
  /**
   * Plays one episode, by steps on its stage. Throws `EpisodeLimit` where a limit of the episode ended it (most limits are the stage's own), and
   * an error of the infrastructure, never a reward of 0, where the machinery failed.
   */
  act(stage: Stage): Promise<Ending>;
  /** After the last episode, whatever happened. */
  close?(): Promise<void>;
}

export interface PolicyRequest {
  readonly template: Template;
  /** Of a replay: the trace, or the folder of a run whose episodes have one each. */
  readonly trace?: string;
  /** Where the actions of people come from. */
  readonly seats: ManualSeats;
  /** Values of the template's secrets. */
  readonly secrets: Readonly<Record<string, string>>;
  /** What programs of this machine are started with, as far as they need it. */
  readonly environment: NodeJS.ProcessEnv;
  /** Models of whoever started the run, if that is an editor which may have some. */
  readonly chat?: OfferedChat;
  /** Variables of whoever started the run, by name. */
  readonly variables: (names: readonly string[]) => Promise<NodeJS.ProcessEnv>;
}

/** What the template says of a policy. Throws one sentence if it says nothing. */
export function settingsOf<N extends PolicyName>({ policy, file }: Template, name: N): Extract<PolicySpec, { name: N }> {
  if (policy.name !== name) throw new Error(`${file} has no settings for the policy \`${name}\`: they stand under \`policy\`, as \`{name: ${name}, ...}\``);
  return policy as Extract<PolicySpec, { name: N }>;
}

/** Makes a policy, without starting anything yet. Throws one sentence if the template lacks what it needs. */
export type PolicyKind = (request: PolicyRequest) => Policy | Promise<Policy>;

/** A limit of the episode ended it: it is scored from what it left. */
export class EpisodeLimit extends Error {
  constructor(
    readonly code: string,
    sentence: string,
  ) {
    super(sentence);
    this.name = 'EpisodeLimit';
  }

  get ending(): Ending {
    return { status: 'truncated', cause: `${this.code}: the episode ${this.message}` };
  }
}
