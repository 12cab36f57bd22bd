/** A trace as OpenAI chat messages: what a model is trained on. */
import type { Part, StepDetail, TraceReader } from '../model.js';
import { compact, wellFormed } from '../text.js';
import { partsText } from './parts.js';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly type: 'function'; readonly function: { readonly name: string; readonly arguments: string } }[];
  readonly tool_call_id?: string;
}

/**
 * Messages in the order of the steps. An action that is no tool call is an assistant's message, what was observed after it a user's; the
 * verifier's word is none.
 */
export async function chatMessages(reader: TraceReader, signal?: AbortSignal): Promise<ChatMessage[]> {
  await reader.settled(signal);
  const { steps, format } = await reader.head();
  const messages: ChatMessage[] = [];
  for (let index = 0; index < steps; index += 1) {
    signal?.throwIfAborted();
    const step = await reader.step(index, signal);
    // What the machinery noted was said to nobody.
    if (format === 'native' && step.source === 'system' && step.label !== 'system') continue;
    messages.push(...(await messagesOf(step, reader)));
  }
  return messages;
}

async function messagesOf(step: StepDetail, reader: TraceReader): Promise<ChatMessage[]> {
  if (step.source === 'verifier') return [];
  const text = async (parts: readonly Part[] | undefined): Promise<string> => wellFormed(await partsText(parts, reader));
  const seen = await text(step.observation);
  if (step.source !== 'agent') {
    const message = await text(step.message);
    const role = step.source === 'system' ? 'system' : 'user';
    return [...(message ? [{ role, content: message } as const] : []), ...(seen ? [{ role: 'user', content: seen } as const] : [])];
  }
  const calls = (step.calls ?? []).map((call, at) => ({ id: call.id ?? `call_${step.index}_${at}`, type: 'function' as const, function: { name: call.name, arguments: compact(call.arguments ?? {}) } }));
  const said = [await text(step.message), await text(step.action)].filter(Boolean).join('\n');
  const reasoning = await text(step.reasoning);
  const results: ChatMessage[] = [];
  for (const [at, call] of (step.calls ?? []).entries()) if (!step.pending || call.result.length) results.push({ role: 'tool', tool_call_id: calls[at]!.id, content: await text(call.result) });
  return [
    { role: 'assistant', content: said || null, ...(reasoning && { reasoning_content: reasoning }), ...(calls.length && { tool_calls: calls }) },
    ...results,
    ...(seen ? [{ role: 'user', content: seen } as const] : []),
  ];
}
