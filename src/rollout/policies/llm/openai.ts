/** An endpoint that speaks the OpenAI chat protocol: vLLM, Ollama, llama.cpp, a vendor. Loaded on first use. */
import OpenAI, { APIConnectionError, APIError } from 'openai';
import type { ChatCompletion, ChatCompletionChunk, ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import { ModelFailure, type ChatModel, type ChatReply, type ToolCall } from './chat.js';

export interface Endpoint {
  readonly url: string;
  readonly model: string;
  /** Sent to this endpoint and to nobody else. */
  readonly key?: string;
  readonly stream: boolean;
  readonly requestTimeoutMs: number;
}

/** A reply that is longer than this is no reply: 16 MiB of text. */
const MOST_CHARACTERS = 1 << 24;

export function openaiModel({ url, model, key, stream, requestTimeoutMs }: Endpoint): ChatModel {
  // Everything that the package would take from the environment is given here: what a template does not name stays on this machine.
  const client = new OpenAI({ baseURL: url, apiKey: key ?? 'none', organization: null, project: null, maxRetries: 0, timeout: requestTimeoutMs });
  return {
    url,
    model,
    complete: async ({ messages, tools, parameters }, signal) => {
      signal.throwIfAborted();
      const body = { ...parameters, model, messages, ...(tools.length ? { tools } : {}) } as unknown as ChatCompletionCreateParams;
      // The package's own deadline ends with the first byte.
      const deadline = AbortSignal.timeout(requestTimeoutMs);
      const either = AbortSignal.any([signal, deadline]);
      try {
        if (!stream) return replyOf(await client.chat.completions.create({ ...body, stream: false }, { signal: either }));
        return await gather(await client.chat.completions.create({ ...body, stream: true, stream_options: { include_usage: true } }, { signal: either }), either);
      } catch (error) {
        signal.throwIfAborted();
        if (deadline.aborted) throw new ModelFailure('again', `no reply within ${requestTimeoutMs / 1000} s`, undefined, { cause: error });
        throw failureOf(error);
      }
    },
  };
}

/** Other servers' names for what a model thought. */
interface Thinking {
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
}

function replyOf(completion: ChatCompletion): ChatReply {
  const choice = completion.choices?.[0];
  if (!choice?.message) throw new ModelFailure('again', 'the reply has no choice');
  const { content, tool_calls: calls = [] } = choice.message;
  const { reasoning_content: first, reasoning: second } = choice.message as Thinking;
  return {
    content: content ?? null,
    reasoning: first || second || undefined,
    toolCalls: (calls ?? []).flatMap((call) => (call.type === 'function' || !call.type ? [{ id: call.id, type: 'function' as const, function: { name: call.function.name, arguments: textOf(call.function.arguments) } }] : [])),
    finishReason: choice.finish_reason ?? undefined,
    tokens: tokensOf(completion.usage),
  };
}

/** Puts a streamed reply together. One that ends without a reason has been cut. */
async function gather(chunks: AsyncIterable<ChatCompletionChunk>, signal: AbortSignal): Promise<ChatReply> {
  let [content, reasoning, characters] = ['', '', 0];
  let finishReason: string | undefined;
  let tokens: ChatReply['tokens'];
  const calls: { id: string; name: string; arguments: string }[] = [];
  for await (const chunk of chunks) {
    tokens = tokensOf(chunk.usage) ?? tokens;
    const choice = chunk.choices?.[0];
    if (!choice) continue;
    finishReason = choice.finish_reason ?? finishReason;
    const delta = (choice.delta ?? {}) as ChatCompletionChunk.Choice.Delta & Thinking;
    content += delta.content ?? '';
    reasoning += delta.reasoning_content ?? delta.reasoning ?? '';
    for (const part of delta.tool_calls ?? []) {
      const call = (calls[part.index ?? calls.length] ??= { id: '', name: '', arguments: '' });
      call.id ||= part.id ?? '';
      call.name += part.function?.name ?? '';
      call.arguments += textOf(part.function?.arguments);
      characters += part.function?.arguments?.length ?? 0;
    }
    if (characters + content.length + reasoning.length > MOST_CHARACTERS) throw new ModelFailure('again', `the reply is longer than ${MOST_CHARACTERS} characters`);
  }
  signal.throwIfAborted();
  if (finishReason === undefined) throw new ModelFailure('again', 'the reply was cut in the middle');
  const toolCalls = calls.filter(Boolean).map(({ id, ...call }): ToolCall => ({ id, type: 'function', function: call }));
  return { content: content || null, reasoning: reasoning || undefined, toolCalls, finishReason, tokens };
}

/** Some servers give arguments as an object. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value));

function tokensOf(usage: ChatCompletion['usage'] | null): ChatReply['tokens'] {
  if (!usage) return undefined;
  const whole = (value: number | null | undefined) => (Number.isSafeInteger(value) && value! >= 0 ? value! : undefined);
  return { prompt: whole(usage.prompt_tokens), completion: whole(usage.completion_tokens), cached: whole(usage.prompt_tokens_details?.cached_tokens) };
}

const TOO_LONG = /context.{0,12}(length|window|size)|maximum context|too many tokens|prompt is too long|exceeds? the .{0,20}context/i;

function failureOf(error: unknown): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const message = (error as Error).message || 'no reason given';
  if (!(error instanceof APIError) || error instanceof APIConnectionError || error.status === undefined) {
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
    const inner = cause?.cause as NodeJS.ErrnoException | undefined;
    const why = [inner?.code ?? cause?.code].filter(Boolean).join();
    return new ModelFailure('again', `${message.replace(/\.$/, '')}${why ? ` (${why})` : ''}`, undefined, { cause: error });
  }
  const status = error.status as number;
  if ((status === 400 || status === 413 || status === 422) && (error.code === 'context_length_exceeded' || TOO_LONG.test(message))) return new ModelFailure('context', message, undefined, { cause: error });
  if (status === 408 || status === 409 || status === 429 || status >= 500) return new ModelFailure('again', message, retryAfter(error.headers as Headers | undefined), { cause: error });
  return new ModelFailure('refused', message, undefined, { cause: error });
}

/** RFC 9110: seconds, or a date. */
function retryAfter(headers: Headers | undefined): number | undefined {
  const value = headers?.get('retry-after');
  if (!value) return undefined;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}
