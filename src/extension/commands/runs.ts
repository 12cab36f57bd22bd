/** What can be done with a run. */
import * as l10n from '@vscode/l10n';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { RunViewTarget } from '../../protocol/runView.js';
import type { RunSummary } from '../../runner/api.js';
import { Layout } from '../../store/layout.js';
import { higherCap, mayCost } from '../askCost.js';
import { cliCommand } from '../cliCommand.js';
import type { Command } from '../commander.js';
import { Commands, InternalCommands } from '../ids.js';
import { tellQuietly } from '../quiet.js';
import { cancelRun, followRun } from '../runProgress.js';
import { seedsText } from '../seeds.js';
import type { Services } from '../services.js';
import type { RunRef } from '../views/node.js';
import { hasFailures, isActive } from '../views/runNodes.js';
import { startRun } from './run.js';
import { askRunOptions } from './runWizard.js';
import { isRunRef, runLabel, runName, runTarget } from './targets.js';

interface PlaceInRun {
  readonly ref: RunRef;
  readonly show: RunViewTarget;
}

const ended = (summary: RunSummary) => !isActive(summary);
const incomplete = (summary: RunSummary) => ended(summary) && summary.finished < summary.run.total;

export function registerRunsCommands(services: Services): void {
  const { commander, runner, runViews, context } = services;
  const on = (fits?: (summary: RunSummary) => boolean): Command<RunRef>['target'] => (argument) => runTarget(services, argument, fits);
  const sentence = (text: (name: string, why: string) => string): Command<RunRef>['failed'] => (why, ref) => text(runName(services, ref), why);
  const start = async (ref: RunRef, which: 'all' | 'failed' | 'missing', request: () => Promise<{ id: string }>, maxCost?: number): Promise<RunRef | undefined> => {
    if (!(await mayCost(await runner.request('run/estimateAgain', { ...ref, which, maxCost })))) return undefined;
    const run = { root: ref.root, id: (await request()).id };
    void followRun(services, run);
    return run;
  };

  commander.register(Commands.openRun, {
    target: on(),
    failed: sentence((name, why) => l10n.t('Failed to open {0}: {1}', name, why)),
    run: async (ref) => runViews.open(ref, await title(services, ref)),
  });
  commander.register<PlaceInRun>(InternalCommands.openEpisode, {
    target: ofRun((more) => (typeof more === 'number' ? { episode: more } : undefined)),
    failed: (why, target) => l10n.t('Failed to open an episode of {0}: {1}', runName(services, target?.ref), why),
    run: async ({ ref, show }) => runViews.open(ref, await title(services, ref), { target: show }),
  });
  commander.register<PlaceInRun>(InternalCommands.openFailures, {
    target: ofRun((more) => (typeof more === 'string' ? { filter: `cause:${more}` } : undefined)),
    failed: (why, target) => l10n.t('Failed to open the episodes of {0}: {1}', runName(services, target?.ref), why),
    run: async ({ ref, show }) => runViews.open(ref, await title(services, ref), { target: show }),
  });
  commander.register(Commands.cancelRun, {
    target: on(isActive),
    needsTrust: true,
    failed: sentence((name, why) => l10n.t('Failed to cancel {0}: {1}', name, why)),
    run: (ref) => cancelRun(services, ref),
  });
  commander.register(Commands.resumeRun, {
    target: on(incomplete),
    needsTrust: true,
    failed: sentence((name, why) => l10n.t('Failed to resume {0}: {1}', name, why)),
    run: async (ref) => {
      const { run } = await services.runs.fetch(ref);
      const maxCost = await higherCap(run);
      return maxCost === 'cancelled' ? undefined : start(ref, 'missing', () => runner.request('run/resume', { ...ref, maxCost }), maxCost);
    },
  });
  commander.register(Commands.rerun, {
    target: on(ended),
    needsTrust: true,
    failed: sentence((name, why) => l10n.t('Failed to rerun {0}: {1}', name, why)),
    run: (ref) => start(ref, 'all', () => runner.request('run/rerun', ref)),
  });
  commander.register(Commands.rerunFailed, {
    target: on((summary) => ended(summary) && hasFailures(summary)),
    needsTrust: true,
    failed: sentence((name, why) => l10n.t('Failed to rerun the failed episodes of {0}: {1}', name, why)),
    run: (ref) => start(ref, 'failed', () => runner.request('run/rerun', { ...ref, only: 'failed' })),
  });
  commander.register(Commands.rerunWith, {
    target: on(ended),
    needsTrust: true,
    failed: sentence((name, why) => l10n.t('Failed to rerun {0}: {1}', name, why)),
    run: async (ref) => {
      const { run } = await services.runs.fetch(ref);
      const template = { root: ref.root, file: run.file };
      const options = await askRunOptions(services, template, { seeds: seedsText(run.seeds), samples: run.samples, concurrency: run.concurrency, provider: run.provider });
      return options && startRun(services, template, { ...options, timeoutMs: run.timeoutMs });
    },
  });
  commander.register(Commands.deleteRun, {
    target: on(ended),
    needsTrust: true,
    failed: sentence((name, why) => l10n.t('Failed to delete {0}: {1}', name, why)),
    run: (ref) => deleteRun(services, ref),
  });
  commander.register(Commands.revealRun, {
    target: on(),
    failed: sentence((name, why) => l10n.t('Failed to show the folder of {0}: {1}', name, why)),
    run: async (ref) => vscode.commands.executeCommand('revealInExplorer', vscode.Uri.file(new Layout(ref.root).runFile(ref.id))),
  });
  commander.register(Commands.copyCliCommand, {
    target: on(),
    failed: sentence((name, why) => l10n.t('Failed to copy the command of {0}: {1}', name, why)),
    run: async (ref) => {
      const { run } = await services.runs.fetch(ref);
      const text = cliCommand(run, { root: ref.root, cli: join(context.extensionPath, 'dist', 'cli.mjs'), platform: process.platform });
      await vscode.env.clipboard.writeText(text);
      tellQuietly(l10n.t('Command copied'));
    },
  });
}

const title = async ({ runs }: Services, ref: RunRef): Promise<string> => runLabel(runs.get(ref) ?? (await runs.fetch(ref)));

/** Target of a command of an item beneath a run: the run, and what to show of it. */
const ofRun =
  (show: (more: unknown) => RunViewTarget | undefined): Command<PlaceInRun>['target'] =>
  (argument, [more]) => {
    const shown = show(more);
    return isRunRef(argument) && shown !== undefined ? { ref: argument, show: shown } : undefined;
  };

async function deleteRun(services: Services, ref: RunRef): Promise<void> {
  const summary = await services.runs.fetch(ref);
  const remove = l10n.t('Delete');
  const question = l10n.t('Delete {0}?', runLabel(summary));
  const detail = l10n.t('Its {0} episodes, their outputs and artifacts are removed from disk. This cannot be undone.', summary.finished);
  if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, remove)) !== remove) return;
  await services.runner.request('run/delete', ref);
  services.runViews.close(ref);
}
