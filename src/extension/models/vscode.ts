/** The models that VS Code offers, as `answer.ts` asks for them. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Models, OfferedModel, Piece } from './answer.js';

const REFUSED: readonly string[] = [vscode.LanguageModelError.NoPermissions.name, vscode.LanguageModelError.NotFound.name];

export const offeredByVsCode = (): Models => ({
  list: async () => (await vscode.lm.selectChatModels()).map(offered),
  kindOf: (error) => (!(error instanceof vscode.LanguageModelError) ? undefined : REFUSED.includes(error.code) ? 'refused' : 'again'),
});

const offered = (model: vscode.LanguageModelChat): OfferedModel => ({
  id: model.id,
  family: model.family,
  name: model.name,
  async *send(said, tools, parameters, signal) {
    const source = new vscode.CancellationTokenSource();
    const cancel = () => source.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const messages = said.map(({ by, pieces }) => (by === 'user' ? vscode.LanguageModelChatMessage.User(pieces.map(partOf) as UserPart[]) : vscode.LanguageModelChatMessage.Assistant(pieces.map(partOf) as ModelPart[])));
      const options = {
        justification: l10n.t('It acts in an episode of a run that you have started.'),
        modelOptions: { ...parameters },
        tools: tools.map(({ function: { name, description, parameters: inputSchema } }) => ({ name, description, inputSchema })),
      };
      const { stream } = await model.sendRequest(messages, options, source.token);
      for await (const part of stream) {
        if (part instanceof vscode.LanguageModelTextPart) yield { text: part.value };
        else if (part instanceof vscode.LanguageModelToolCallPart) yield { call: part.callId, name: part.name, input: part.input };
      }
    } finally {
      signal.removeEventListener('abort', cancel);
      source.dispose();
    }
  },
});

type UserPart = vscode.LanguageModelTextPart | vscode.LanguageModelToolResultPart;
type ModelPart = vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart;

function partOf(piece: Piece): UserPart | ModelPart {
  if ('call' in piece) return new vscode.LanguageModelToolCallPart(piece.call, piece.name, piece.input);
  return 'resultOf' in piece ? new vscode.LanguageModelToolResultPart(piece.resultOf, [new vscode.LanguageModelTextPart(piece.text)]) : new vscode.LanguageModelTextPart(piece.text);
}
