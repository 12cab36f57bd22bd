/** The native trace as types: what a line of `trace.jsonl` holds. What each key means is said in `schema.ts`, which they come from, and in docs/trace.md. */
import type { output, ZodType } from 'zod';
import type * as schema from './schema.js';

/** A text or a JSON value, or the `StoredBlob` that stands for a big one. */
export type { Content } from './schema.js';

type Frozen<T> = T extends readonly unknown[] ? { readonly [K in keyof T]: Frozen<T[K]> } : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;
type Of<T extends ZodType> = Frozen<output<T>>;

/** In place of a big value: the file `blobs/<sha256>` of the same episode. */
export type StoredBlob = Of<typeof schema.storedBlob>;
export type Action = Of<typeof schema.action>;
export type Call = Extract<Action, { kind: 'calls' }>['calls'][number];
export type Observation = Of<typeof schema.observation>;
/** What a program gave back. */
export type CommandResult = Omit<Extract<Observation, { kind: 'command' }>, 'kind'>;
/** What came of one call of a tool. */
export type CallResult = Extract<Observation, { kind: 'results' }>['results'][number];

export type StartEvent = Of<typeof schema.startEvent>;
export type MessageEvent = Of<typeof schema.messageEvent>;
export type ModelEvent = Of<typeof schema.modelEvent>;
export type BeginEvent = Of<typeof schema.beginEvent>;
export type StepEvent = Of<typeof schema.stepEvent>;
export type RewardEvent = Of<typeof schema.rewardEvent>;
export type NoteEvent = Of<typeof schema.noteEvent>;
export type NetworkEvent = Of<typeof schema.networkEvent>;
export type EndEvent = Of<typeof schema.endEvent>;
export type TraceEvent = Of<typeof schema.traceEvent>;
