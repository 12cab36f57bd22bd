/** The commands of a recorded episode as its template's reference solution. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Commands } from '../ids.js';
import { loadLanguage } from '../language/lazy.js';
import { traceFile } from '../panels/traceViews.js';
import type { Services } from '../services.js';
import type { EpisodeRef } from '../views/node.js';
import { episodeOf, isEpisodeRef } from './targets.js';
import { pickEpisode } from './traces.js';

export function registerSolutionCommands(services: Services): void {
  services.commander.register(Commands.saveSolution, {
    target: async (argument) => (isEpisodeRef(argument) ? argument : (episodeOf(argument) ?? pickEpisode(services))),
    needsTrust: true,
    failed: (why) => l10n.t('Failed to save the solution: {0}', why),
    run: (ref) => saveSolution(services, ref),
  });
}

/** Written into the template's editor and not saved: a person sees it first. */
async function saveSolution({ runner, runs }: Services, ref: EpisodeRef): Promise<void> {
  const { run } = await runs.fetch(ref);
  const { text } = await runner.request('trace/solution', { trace: { file: traceFile(ref) } });
  const document = await vscode.workspace.openTextDocument(run.file);
  const change = loadLanguage().withSolution(document.getText(), text);
  const replace = l10n.t('Replace');
  if (change.end > change.start && (await vscode.window.showWarningMessage(l10n.t('The template has a solution. Is it to be replaced?'), { modal: true }, replace)) !== replace) return;
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(document.positionAt(change.start), document.positionAt(change.end)), change.text);
  await vscode.workspace.applyEdit(edit);
  const editor = await vscode.window.showTextDocument(document);
  const at = document.positionAt(change.start + (change.text.startsWith('\n') ? 1 : 0));
  editor.selection = new vscode.Selection(at, at);
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
