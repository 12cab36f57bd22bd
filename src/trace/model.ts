/**
 * What a reader of any trace format gives: one shape for the trace view, the command line and the exporters. Types only, so that
 * the webview may import them. All text comes from sandboxes and models: hostile, never markup. Times are milliseconds since the epoch,
 * durations milliseconds, sizes bytes, money US dollars. What a format does not say is absent, and a reward that is not known is `null`.
 */

/** Who did it. `environment`: a reset of the environment; `verifier`: what gave the reward. */
export type StepSource = 'system' | 'user' | 'agent' | 'environment' | 'verifier';

/** What a step is in the list and in the timeline, by what was most important in it. */
export type StepKind = 'message' | 'model' | 'tool' | 'action' | 'reset' | 'verifier' | 'error';

/** An image, a frame or a long text that lies outside the trace's own line. */
export interface BlobRef {
  /** What `TraceReader.blob` is asked for; opaque to who shows it. */
  readonly blob: string;
  readonly mediaType: string;
  readonly bytes?: number;
  /** Of a text: how it begins. */
  readonly head?: string;
}

/** A piece of content, as people read it. */
export type Part =
  /** What a program printed; may hold ANSI colours. `dropped`: bytes that the recorder did not keep, and where in `text` the gap is. */
  | { readonly type: 'terminal'; readonly text: string; readonly dropped?: { readonly bytes: number; readonly at: number } }
  /** What a person or a model wrote; Markdown. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'json'; readonly value: unknown }
  /** A unified diff. */
  | { readonly type: 'diff'; readonly text: string; readonly path?: string }
  | { readonly type: 'image'; readonly image: BlobRef; readonly alt?: string }
  /** A text that is too long to be carried along. */
  | { readonly type: 'long'; readonly content: BlobRef };

export interface Tokens {
  /** Tokens of the prompt, those from a cache included. */
  readonly prompt?: number;
  readonly completion?: number;
  readonly cached?: number;
}

export interface FileChange {
  readonly path: string;
  readonly change: 'added' | 'modified' | 'removed';
  readonly added?: number;
  readonly removed?: number;
  readonly diff?: string;
}

/** One row of the list of steps: small, so that thousands travel at once. */
export interface StepSummary {
  /** From 0, in the order of the file: what a step is asked for by. */
  readonly index: number;
  /** Number of a step of a native trace that is over, by which its actions can be taken again. */
  readonly step?: number;
  /** What the format itself calls it: its step number or id. */
  readonly label: string;
  readonly source: StepSource;
  readonly kind: StepKind;
  /** One line, at most 200 characters: the tool and its first argument, the command, the start of the message. */
  readonly title: string;
  readonly at?: number;
  readonly ms?: number;
  /** Reward of this step alone; absent where the format has none for steps. */
  readonly reward?: number | null;
  readonly terminated?: boolean;
  readonly truncated?: boolean;
  /** An error of the step in a few words: `exit 1`, `timed out`. */
  readonly error?: string;
  readonly tokens?: Tokens;
  readonly cost?: number;
  /** Whether it has an image. */
  readonly image?: boolean;
  /** Still going on: the trace is being written. */
  readonly pending?: boolean;
  /** Level of nesting below the main agent: a subagent's steps have 1. */
  readonly depth?: number;
}

export interface ToolCall {
  readonly id?: string;
  readonly name: string;
  /** Parsed arguments, or the text itself where it is no JSON. */
  readonly arguments: unknown;
  /** What came of it; empty where the trace has no result. */
  readonly result: readonly Part[];
  readonly exitCode?: number;
  readonly ms?: number;
  readonly error?: string;
}

/** A model call as it was made, for copying it as a request. */
export interface ModelCall {
  readonly url?: string;
  readonly model?: string;
  /** The body of the request as it was sent, without the key. */
  readonly request?: unknown;
  readonly finishReason?: string;
  /** Attempts, if more than one. */
  readonly attempts?: number;
}

/** All of one step. */
export interface StepDetail extends StepSummary {
  readonly reasoning?: readonly Part[];
  /** What was said: by the model, the user, the system. */
  readonly message?: readonly Part[];
  readonly calls?: readonly ToolCall[];
  /** An action that is no tool call: a command, a value of the action space. */
  readonly action?: readonly Part[];
  /** What was observed that belongs to no call. */
  readonly observation?: readonly Part[];
  readonly frames?: readonly BlobRef[];
  readonly info?: unknown;
  readonly files?: readonly FileChange[];
  readonly model?: ModelCall;
  /** Components of a reward, for a verifier's step. */
  readonly components?: readonly { readonly name: string; readonly weight?: number; readonly value: number | null; readonly detail?: string }[];
}

/** How the episode ended. */
export interface TraceEnd {
  readonly status: 'completed' | 'truncated' | 'error' | 'cancelled' | 'unknown';
  /** Why, in a few words: `max_turns`, `timeout: ran longer than 60 s`. */
  readonly reason?: string;
}

/** What the top of a view shows, and what `rl-sandboxes trace FILE` prints. */
export interface TraceHead {
  /** `native`, `atif`, `swe-agent`, `mini-swe-agent`, `inspect`, ... */
  readonly format: string;
  readonly version?: string;
  readonly title: string;
  readonly agent?: string;
  readonly model?: string;
  readonly task?: string;
  readonly seed?: number;
  readonly sample?: number;
  /** Steps that can be asked for now; grows while the trace is being written. */
  readonly steps: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly tokens?: Tokens;
  readonly cost?: number;
  readonly reward?: number | null;
  readonly components?: StepDetail['components'];
  readonly end: TraceEnd;
  /** Still being written. */
  readonly live: boolean;
  /** How much of the file has been gone through for errors, rewards and totals, from 0 to 1; absent once all of it has. */
  readonly indexed?: number;
  /** What could not be read, each with a place, in one sentence. */
  readonly problems: readonly string[];
  /** Traces in the same file, where it holds several: which one this is, and what they are called. */
  readonly members?: { readonly selected: number; readonly names: readonly string[]; readonly total: number };
  /** Whatever else the format says of the whole, for people who want all of it. */
  readonly extra?: unknown;
}

export interface SearchHit {
  readonly step: number;
  /** Text around the hit, one line, and where in it the hit is. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A place on the timeline: steps from `first` to `last` seen as one. */
export interface TimelineBin {
  readonly first: number;
  readonly last: number;
  /** Milliseconds from the start of the trace; the step's number where the format has no times. */
  readonly from: number;
  readonly to: number;
  readonly kind: StepKind;
  readonly error: boolean;
  /** Sum of rewards up to the end of the bin. */
  readonly reward?: number;
}

/** An open trace. Holds an index of the file, never the file. Everything may be asked for while the trace is still being written. */
export interface TraceReader {
  head(): Promise<TraceHead>;
  /** Steps from `from` up to but not including `to`. */
  summaries(from: number, to: number, signal?: AbortSignal): Promise<readonly StepSummary[]>;
  step(index: number, signal?: AbortSignal): Promise<StepDetail>;
  /** The step as it stands in the file, as text; at most `maxBytes` of it. */
  raw(index: number, maxBytes?: number): Promise<{ readonly text: string; readonly bytes: number }>;
  blob(ref: string): Promise<Uint8Array>;
  /** The step to open on: the first that failed, else where the reward moved, else the last; the first while a big file is being gone through. */
  start(): Promise<number>;
  /** Resolves once the whole file has been gone through: then errors, rewards and totals are those of all of it. */
  settled(signal?: AbortSignal): Promise<void>;
  /** The next step with an error in a direction; `undefined` if there is none. */
  nextError(from: number, direction: 1 | -1): Promise<number | undefined>;
  timeline(bins: number): Promise<readonly TimelineBin[]>;
  /** Hits in the order of the steps, as they are found, one at most for each step; case-insensitive, literal text. */
  search(text: string, signal?: AbortSignal): AsyncIterable<SearchHit>;
  /** Takes in what was appended; whether anything was. Rejects if the file was replaced or cut: then it is to be opened again. */
  refresh(): Promise<boolean>;
  close(): Promise<void>;
}
