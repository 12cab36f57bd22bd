/** What a person is told of the engine itself: it died, or an older one is still at work. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Work } from '../runner/api.js';
import { Commands } from './ids.js';

export async function tellDied(restarting: boolean): Promise<void> {
  const showLog = l10n.t('Show Log');
  const restart = l10n.t('Restart Engine');
  const chosen = restarting
    ? await vscode.window.showWarningMessage(l10n.t('The engine stopped unexpectedly and was started again. Runs that were going on are interrupted and can be resumed.'), showLog)
    : await vscode.window.showErrorMessage(l10n.t('The engine stopped unexpectedly again.'), restart, showLog);
  if (chosen === showLog) await vscode.commands.executeCommand(Commands.showLog);
  else if (chosen === restart) await vscode.commands.executeCommand(Commands.restartEngine);
}

/** Said once for each engine. */
export function tellOlder({ runs, kept }: Work): void {
  const text =
    runs > 0
      ? l10n.t('An older engine is finishing {0} runs. The engine of this version starts when they have ended; until then nothing else can be run.', runs)
      : l10n.t('An older engine keeps {0} sandboxes. The engine of this version starts when they have ended; until then nothing can be run.', kept);
  void vscode.window.showInformationMessage(text);
}
