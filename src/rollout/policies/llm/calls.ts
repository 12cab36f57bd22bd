/** Asks a model until it answers: tries again with back-off, and makes room where the messages are too long. Each call is in the trace. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ProviderUnavailable, SandboxError } from '../../../sandbox/errors.js';
import type { ModelEvent } from '../../../trace/events.js';
import type { Stage } from '../../stage.js';
import { EpisodeLimit } from '../policy.js';
import { ModelFailure, type ChatModel, type ChatReply, type ToolSchema } from './chat.js';
import type { Conversation } from './conversation.js';

/** An endpoint that has been asked this often in vain is down. */
const MAX_ATTEMPTS = 6;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;

/** The model does not answer: the machinery's fault, whatever the episode has done. The calls were tried again; the episode is not, as it costs money. */
export class ModelUnavailable extends SandboxError {
  override readonly retryable = false;
}

/** The endpoint refuses whatever is asked: no episode of the run can go on. */
class ModelRefused extends ProviderUnavailable {
  override readonly retryable = false;
}

export interface CallOptions {
  readonly stage: Stage;
  readonly model: ChatModel;
  readonly tools: readonly ToolSchema[];
  readonly parameters: ModelEvent['parameters'];
  readonly cost: (tokens: ModelEvent['tokens']) => number | undefined;
}

export async function ask(conversation: Conversation, { stage, model, tools, parameters, cost }: CallOptions): Promise<ChatReply> {
  for (let attempt = 1; ; attempt++) {
    const at = Date.now();
    const start = performance.now();
    const sent = conversation.sent();
    const record = (more: Partial<ModelEvent>): void =>
      stage.trace.write({
        ...{ type: 'model', at, ms: Math.round(performance.now() - start), step: stage.steps + 1, url: model.url, model: model.model },
        ...sent,
        ...{ parameters, attempt, ...more },
      });
    try {
      const reply = await model.complete({ messages: conversation.messages(), tools, parameters }, stage.signal);
      conversation.reply(reply);
      const { content, reasoning, toolCalls, finishReason, tokens } = reply;
      const message = { role: 'assistant', content, ...(reasoning === undefined ? {} : { reasoning_content: reasoning }), ...(toolCalls.length ? { tool_calls: toolCalls } : {}) };
      record({ reply: stage.trace.content(message), finishReason, tokens, cost: cost(tokens) });
      return reply;
    } catch (error) {
      const said = error instanceof Error ? stage.options.redactor.text(error.message) : String(error);
      record({ error: said });
      // Time that the endpoint wasted is not the episode's.
      if (!(error instanceof ModelFailure)) throw error instanceof EpisodeLimit && attempt > 1 ? new ModelUnavailable(`the model at ${model.url} did not answer before the episode's time was up`) : error;
      if (error.kind === 'refused') throw new ModelRefused(`the model at ${model.url} refuses: ${said}`, 'check `base_url`, `model` and `api_key` of the template');
      if (error.kind === 'context') {
        if (!conversation.makeRoom()) throw new EpisodeLimit('context', 'filled the context of its model');
        attempt -= 1;
        continue;
      }
      if (attempt >= MAX_ATTEMPTS) throw new ModelUnavailable(`the model at ${model.url} did not answer ${MAX_ATTEMPTS} times: ${said}`, { cause: error });
      await pause(error.retryAfterMs ?? backOffMs(attempt), stage, model);
    }
  }
}

/** Exponential, with jitter, so that many episodes do not come back at once. */
const backOffMs = (attempt: number): number => Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);

async function pause(ms: number, stage: Stage, model: ChatModel): Promise<void> {
  try {
    await sleep(Math.min(ms, 2 ** 31 - 1), undefined, { signal: stage.signal });
  } catch {
    const { reason } = stage.signal as { reason: unknown };
    throw reason instanceof EpisodeLimit ? new ModelUnavailable(`the model at ${model.url} did not answer before the episode's time was up`) : reason;
  }
}
