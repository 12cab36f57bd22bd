/** What was done and said before a policy goes on, in order: what one that remembers has to know. */
import type { ModelEvent } from '../../trace/events.js';
import type { ToolResult } from '../policies/llm/chat.js';

export type Past =
  /** A prompt. */
  | { readonly kind: 'said'; readonly role: 'system' | 'user'; readonly content: string }
  /** A reply of a model, as a chat message, to what `call` says that it was sent. */
  | { readonly kind: 'reply'; readonly message: unknown; readonly call: ModelEvent }
  | { readonly kind: 'command'; readonly command: string; readonly language: 'sh' | 'python'; readonly result: PastResult }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly arguments: unknown; readonly result: PastResult };

/** In full, where the trace may have a blob. */
export interface PastResult extends ToolResult {
  readonly stderr?: string;
  readonly timedOut?: boolean;
}
