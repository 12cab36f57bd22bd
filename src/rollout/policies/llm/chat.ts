/** What the loop needs of a model. An endpoint that speaks the OpenAI protocol is one; a model that an editor offers can be another. */
import type { CommandResult, ModelEvent } from '../../../trace/events.js';

export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  /** `arguments` as the model wrote them: mostly JSON, not always. */
  readonly function: { readonly name: string; readonly arguments: string };
}

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export interface ToolSchema {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: Readonly<Record<string, unknown>> };
}

export interface ChatReply {
  readonly content: string | null;
  /** What it thought, where the endpoint tells. */
  readonly reasoning?: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason?: string;
  readonly tokens?: ModelEvent['tokens'];
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolSchema[];
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Asks a model that whoever started the run offers, by its name. It is another process: a failure is data. */
export type OfferedChat = (request: ChatRequest & { readonly model: string }, signal: AbortSignal) => Promise<ChatReply | { readonly failure: ModelFailure['kind']; readonly message: string }>;

export interface ChatModel {
  readonly model: string;
  /** Where it is, for people; no key in it. */
  readonly url: string;
  /** Rejects with `ModelFailure`, or with the signal's reason. */
  complete(request: ChatRequest, signal: AbortSignal): Promise<ChatReply>;
}

/**
 * Why there is no reply. `again`: the same may succeed later (a rate limit, a fault of the server, a connection that broke). `context`: the
 * messages are too long. `refused`: it would be refused each time (a wrong key, an unknown model).
 */
export class ModelFailure extends Error {
  constructor(
    readonly kind: 'again' | 'context' | 'refused',
    message: string,
    /** How long the endpoint asks to wait. */
    readonly retryAfterMs?: number,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'ModelFailure';
  }
}

/** Text results of tools, before they become content of a trace. */
export type ToolResult = Omit<CommandResult, 'stdout' | 'stderr'> & { readonly stdout: string; readonly error?: string };
