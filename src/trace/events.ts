/**
 * The native trace: `trace.jsonl`, one event a line, appended as it happens. The first line is a `start`, the last an `end`; without an `end`
 * the episode is going on or its process died. The Gymnasium five of a step are its `action`, `observation`, `reward`, `terminated`, `truncated`
 * and `info`, as in https://gymnasium.farama.org/api/env/ (`step`). `at` is milliseconds since the epoch, `ms` a duration.
 */
import type { BlobRef, FileChange, Tokens } from './model.js';

/** A text or a JSON value; one that is big is kept as a blob of the same episode (`blobs/<sha256>`), named by its digest. */
export type Content = string | number | boolean | null | readonly unknown[] | { readonly [key: string]: unknown } | StoredBlob;

/** In place of a big value. */
export interface StoredBlob extends BlobRef {
  readonly $blob: true;
  readonly bytes: number;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: Content;
}

/**
 * What was done. `value`: an element of the action space; `command`: what a shell or Python ran; `calls`: tools that a model called, with what
 * it said and thought; `none`: nothing (a reset, a policy that does nothing).
 */
export type Action =
  | { readonly kind: 'none' }
  | { readonly kind: 'value'; readonly value: Content }
  | { readonly kind: 'command'; readonly command: Content; readonly language: 'sh' | 'python' }
  | { readonly kind: 'calls'; readonly text?: Content; readonly reasoning?: Content; readonly calls: readonly Call[] };

/** What a program gave back. `dropped`: bytes left out between the head and the tail of `stdout`. */
export interface CommandResult {
  readonly stdout: Content;
  readonly stderr?: Content;
  readonly exitCode?: number;
  readonly dropped?: number;
  readonly droppedAt?: number;
}

/** What was seen. `results` are in the order of the action's calls. */
export type Observation =
  | { readonly kind: 'none' }
  | { readonly kind: 'value'; readonly value: Content }
  | ({ readonly kind: 'command' } & CommandResult)
  | { readonly kind: 'results'; readonly results: readonly ({ readonly call: string; readonly ms: number; readonly error?: string } & CommandResult)[] };

export interface StartEvent {
  readonly type: 'start';
  readonly version: 1;
  readonly at: number;
  readonly run?: string;
  readonly episode: number;
  readonly seed: number;
  readonly sample: number;
  readonly attempt: number;
  readonly template: string;
  readonly provider: string;
  readonly snapshot?: string;
  readonly policy: { readonly name: string; readonly model?: string; readonly [key: string]: unknown };
  /** Tools that the model may call, as OpenAI's function schema. */
  readonly tools?: readonly unknown[];
  /** Gymnasium: descriptions of both spaces. */
  readonly spaces?: { readonly action: unknown; readonly observation: unknown };
}

/** Something said outside a step: the prompts. Numbered from 0 in the order of the file, together with the replies of the model. */
export interface MessageEvent {
  readonly type: 'message';
  readonly at: number;
  readonly role: 'system' | 'user';
  readonly content: Content;
}

/** A call of a model. `context` says which messages it was sent, so that no message is written twice: ranges, ends not included. */
export interface ModelEvent {
  readonly type: 'model';
  readonly at: number;
  readonly ms: number;
  /** The step that it decided. */
  readonly step: number;
  readonly url: string;
  readonly model: string;
  readonly context: readonly (readonly [from: number, to: number])[];
  /** Parameters of the request besides messages and tools. */
  readonly parameters: { readonly [key: string]: unknown };
  /** The reply as a chat message; absent if the call failed. */
  readonly reply?: Content;
  readonly finishReason?: string;
  readonly tokens?: Tokens;
  readonly cost?: number;
  readonly attempt: number;
  readonly error?: string;
}

/** A step that has begun: who watches sees what is being done. Its `step` follows, unless the process died. */
export interface BeginEvent {
  readonly type: 'begin';
  readonly at: number;
  readonly step: number;
  readonly action: Action;
}

/** From 1; a reset is step 0, with the action `none`. */
export interface StepEvent {
  readonly type: 'step';
  readonly at: number;
  readonly ms: number;
  readonly step: number;
  readonly action: Action;
  readonly observation: Observation;
  readonly reward: number | null;
  readonly terminated: boolean;
  readonly truncated: boolean;
  readonly info?: Content;
  readonly tokens?: Tokens;
  readonly cost?: number;
  readonly files?: readonly FileChange[];
  readonly frames?: readonly StoredBlob[];
  /** What went wrong, in a few words. A command that exits with another code than 0 is no error. */
  readonly error?: string;
}

/** The verifier's word, once the episode is scored. */
export interface RewardEvent {
  readonly type: 'reward';
  readonly at: number;
  readonly ms: number;
  readonly reward: number | null;
  readonly components: readonly { readonly name: string; readonly weight: number; readonly value: number | null; readonly detail?: string }[];
  readonly problem?: { readonly code: string; readonly message: string };
  readonly output?: Content;
}

/** Something of note that is no step: a retry, a refused request, a failure of the machinery. */
export interface NoteEvent {
  readonly type: 'note';
  readonly at: number;
  readonly level: 'info' | 'warning' | 'error';
  readonly what: string;
  readonly message: string;
}

export interface EndEvent {
  readonly type: 'end';
  readonly at: number;
  readonly status: 'completed' | 'truncated' | 'error' | 'cancelled';
  readonly cause?: string;
  readonly steps: number;
  readonly reward: number | null;
}

export type TraceEvent = StartEvent | MessageEvent | ModelEvent | BeginEvent | StepEvent | RewardEvent | NoteEvent | EndEvent;
