/** What a person is told when the engine died. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Commands } from './ids.js';
import type { ExitInfo } from './runnerProcess.js';

export async function tellDied({ code, signal }: ExitInfo, restarting: boolean): Promise<void> {
  const how = signal ?? l10n.t('exit code {0}', code ?? -1);
  const showLog = l10n.t('Show Log');
  const restart = l10n.t('Restart Engine');
  const chosen = restarting
    ? await vscode.window.showWarningMessage(l10n.t('The engine stopped unexpectedly ({0}) and was started again. Runs that were going on are interrupted and can be resumed.', how), showLog)
    : await vscode.window.showErrorMessage(l10n.t('The engine stopped unexpectedly again ({0}).', how), restart, showLog);
  if (chosen === showLog) await vscode.commands.executeCommand(Commands.showLog);
  else if (chosen === restart) await vscode.commands.executeCommand(Commands.restartEngine);
}
