/** Follows a run from its start to one quiet sentence at its end. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { RunSummary } from '../runner/api.js';
import { runLabel } from './commands/targets.js';
import { Failure } from './failure.js';
import { formatMean, formatDollars, formatRate, formatSpending } from './format.js';
import { Commands } from './ids.js';
import { withCancellableProgress } from './progress.js';
import { tellQuietly } from './quiet.js';
import { offerResume } from './offerResume.js';
import type { Services } from './services.js';
import type { RunRef } from './views/node.js';
import { hasFailures } from './views/runNodes.js';

/** Opens the run view, and shows progress with Cancel until the run ends. Never rejects: what goes wrong is reported. */
export async function followRun(services: Services, ref: RunRef): Promise<void> {
  const { runs, commander } = services;
  try {
    const label = runLabel(await runs.fetch(ref));
    services.runViews.open(ref, label, { beside: true });
    const outcome = await withCancellableProgress(label, (signal, report) => {
      report({ message: l10n.t('starting') });
      return runs.ended(ref, (summary) => report(progressOf(summary)), signal);
    });
    if (outcome.cancelled) await cancelRun(services, ref);
    else tellEnd(services, ref, outcome.value);
  } catch (error) {
    commander.report(error, (why) => l10n.t('Failed to follow the run: {0}', why));
  }
}

function progressOf(summary: RunSummary): { message: string; fraction: number } {
  const { run, finished, episodesPerSecond, mean, ci95 } = summary;
  if (run.state === 'building') return { message: l10n.t('building the snapshot'), fraction: 0 };
  const parts = [`${finished}/${run.total}`];
  if (episodesPerSecond !== null) parts.push(formatRate(episodesPerSecond));
  if (mean !== null) parts.push(l10n.t('mean {0}', formatMean(mean, ci95)));
  const spending = formatSpending(run);
  if (spending) parts.push(spending);
  return { message: parts.join('  ·  '), fraction: finished / run.total };
}

/** Resolves when nothing of the run is left but what is finished. Rejects with `RunnerError`. */
export async function cancelRun({ runner, runs }: Services, ref: RunRef): Promise<void> {
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: l10n.t('Cancelling the run') }, () => runner.request('run/cancel', ref));
  const summary = await runs.fetch(ref);
  tellQuietly(l10n.t('{0} cancelled; {1} of {2} episodes kept', runLabel(summary), summary.finished, summary.run.total));
}

function tellEnd(services: Services, ref: RunRef, summary: RunSummary): void {
  const { run } = summary;
  const label = runLabel(summary);
  if (run.state === 'failed') {
    const open = { title: l10n.t('Open Run'), command: Commands.openRun, arguments: [ref] };
    return services.commander.report(new Failure(run.error ?? l10n.t('unknown reason'), open), (why) => l10n.t('Failed to run {0}: {1}', label, why));
  }
  if (run.state === 'interrupted') {
    void offerResume(services, [ref]);
  } else if (run.stopped?.by === 'max_cost') {
    const text = l10n.t('{0} has come to the {1} that it may cost: {2} of {3} episodes are finished.', label, formatDollars(run.maxCost!), summary.finished, run.total);
    void offer(text, l10n.t('Open'), Commands.openRun, ref);
  } else if (run.state === 'cancelled') {
    tellQuietly(l10n.t('{0} cancelled; {1} of {2} episodes kept', label, summary.finished, run.total));
  } else {
    const text = endSentence(label, summary);
    // Whoever looks at the run view has seen it end.
    if (services.runViews.isVisible(ref)) tellQuietly(text);
    else void offer(text, l10n.t('Open'), Commands.openRun, ref);
  }
}

function endSentence(label: string, summary: RunSummary): string {
  const mean = formatMean(summary.mean, summary.ci95);
  return hasFailures(summary)
    ? l10n.t('{0}: mean reward {1} over {2} episodes, {3} without a reward.', label, mean, summary.finished, summary.unscored)
    : l10n.t('{0}: mean reward {1} over {2} episodes.', label, mean, summary.finished);
}

async function offer(text: string, button: string, command: string, ref: RunRef): Promise<void> {
  if ((await vscode.window.showInformationMessage(text, button)) === button) await vscode.commands.executeCommand(command, ref);
}
