/** A turn of a model that VS Code offers, for an episode of the policy `llm`. Knows nothing of VS Code. */
import * as l10n from '@vscode/l10n';
import type { CallerRequests } from '../../runner/api.js';

type Request = CallerRequests['chat']['params'];
type Reply = CallerRequests['chat']['result'];

/** What a model is told, and says: text, calls of tools, results of them. */
export type Piece = { readonly text: string } | { readonly call: string; readonly name: string; readonly input: object } | { readonly resultOf: string; readonly text: string };

export interface OfferedModel {
  readonly id: string;
  readonly family: string;
  readonly name: string;
  /** A person may have to agree first. */
  send(said: readonly { readonly by: 'user' | 'model'; readonly pieces: readonly Piece[] }[], tools: Request['tools'], parameters: Request['parameters'], signal: AbortSignal): AsyncIterable<Piece>;
}

export interface Models {
  list(): Promise<readonly OfferedModel[]>;
  /** `refused`: it would be each time; `again`: it may succeed later. Undefined where that is not known. */
  kindOf(error: unknown): 'again' | 'refused' | undefined;
}

/** Never rejects but with the signal's reason: a failure is an answer. */
export async function answerChat(models: Models, { model: wanted, messages, tools, parameters }: Request, signal: AbortSignal): Promise<Reply> {
  try {
    const offered = await models.list();
    const model = offered.find(({ id, family, name }) => [id, family, name].includes(wanted));
    if (!model) {
      const names = [...new Set(offered.map(({ family }) => family))].slice(0, 20).join(', ');
      return { failure: 'refused', message: names ? l10n.t('VS Code offers no model {0}: it offers {1}', wanted, names) : l10n.t('VS Code offers no model: an extension has to, such as one for chats') };
    }
    let content = '';
    const toolCalls = [];
    for await (const piece of model.send(messages.map(saidBy), tools, parameters, signal)) {
      if ('call' in piece) toolCalls.push({ id: piece.call, type: 'function' as const, function: { name: piece.name, arguments: JSON.stringify(piece.input) } });
      else if (!('resultOf' in piece)) content += piece.text;
    }
    return { content: content || null, toolCalls, finishReason: toolCalls.length ? 'tool_calls' : 'stop' };
  } catch (error) {
    signal.throwIfAborted();
    return { failure: models.kindOf(error) ?? 'again', message: error instanceof Error ? error.message : String(error) };
  }
}

/** There is no system message in VS Code's interface: it is the first that the user says. */
function saidBy(message: Request['messages'][number]): { readonly by: 'user' | 'model'; readonly pieces: readonly Piece[] } {
  if (message.role === 'tool') return { by: 'user', pieces: [{ resultOf: message.tool_call_id, text: message.content }] };
  if (message.role !== 'assistant') return { by: 'user', pieces: [{ text: message.content }] };
  const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: input } }) => ({ call: id, name, input: JSON.parse(input) as object }));
  return { by: 'model', pieces: [...(message.content ? [{ text: message.content }] : []), ...calls] };
}
