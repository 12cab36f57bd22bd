/** Runs that an engine which died left unfinished: offered to be resumed, each once in a window. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { runLabel } from './commands/targets.js';
import { Commands, Container } from './ids.js';
import type { Services } from './services.js';
import type { RunRef } from './views/node.js';

const offered = new Set<string>();

export async function offerResume({ runs, log }: Pick<Services, 'runs' | 'log'>, refs: readonly RunRef[]): Promise<void> {
  const fresh = refs.filter(({ id }) => !offered.has(id));
  for (const { id } of fresh) offered.add(id);
  try {
    const [first] = fresh;
    if (!first) return;
    const resume = fresh.length === 1 ? l10n.t('Resume') : l10n.t('Resume All');
    const show = l10n.t('Show Runs');
    const chosen = await vscode.window.showInformationMessage(await sentence(runs, fresh), resume, show);
    if (chosen === show) await vscode.commands.executeCommand(`workbench.view.extension.${Container}`);
    if (chosen === resume) for (const ref of fresh) await vscode.commands.executeCommand(Commands.resumeRun, ref);
  } catch (error) {
    // A run may have been removed by now.
    log.warn(`offering to resume: ${String(error)}`);
  } finally {
    // Resumed and interrupted again, it is offered again.
    for (const { id } of fresh) offered.delete(id);
  }
}

async function sentence(runs: Services['runs'], refs: readonly RunRef[]): Promise<string> {
  if (refs.length > 1) return l10n.t('{0} runs were interrupted; what they finished is kept.', refs.length);
  const summary = await runs.fetch(refs[0]!);
  return l10n.t('{0} was interrupted; {1} of {2} episodes are kept.', runLabel(summary), summary.finished, summary.run.total);
}
