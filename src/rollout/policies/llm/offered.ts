/** A model that the editor offers which started the run. */
import { ModelFailure, type ChatModel, type OfferedChat } from './chat.js';

/** `base_url` of a template that wants one. */
export const OFFERED = 'vscode';

export function offeredModel(chat: OfferedChat, model: string, requestTimeoutMs: number): ChatModel {
  return {
    url: OFFERED,
    model,
    complete: async (request, signal) => {
      signal.throwIfAborted();
      const deadline = AbortSignal.timeout(requestTimeoutMs);
      const either = AbortSignal.any([signal, deadline]);
      const given = new Promise<never>((_, reject) => either.addEventListener('abort', () => reject(either.reason as Error), { once: true }));
      given.catch(() => undefined);
      try {
        const reply = await Promise.race([chat({ ...request, model }, either), given]);
        if ('failure' in reply) throw new ModelFailure(reply.failure, reply.message);
        return reply;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ModelFailure) throw error;
        if (deadline.aborted) throw new ModelFailure('again', `no reply within ${requestTimeoutMs / 1000} s`, undefined, { cause: error });
        // The connection to the window is gone, and no other window has taken the run over.
        throw new ModelFailure('refused', 'the window of VS Code that started the run is gone: resume the run in another one', undefined, { cause: error });
      }
    },
  };
}
