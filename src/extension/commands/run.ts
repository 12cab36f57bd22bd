/** Run, Run..., Build, Rebuild. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { RunOptions } from '../../runner/api.js';
import { mayCost } from '../askCost.js';
import { formatBytes, formatDuration } from '../format.js';
import { Commands } from '../ids.js';
import { withCancellableProgress } from '../progress.js';
import { tellQuietly } from '../quiet.js';
import { followRun } from '../runProgress.js';
import type { Services } from '../services.js';
import { defaultConcurrency, defaultProvider } from '../settings.js';
import type { RunRef, TemplateRef } from '../views/node.js';
import { askRunOptions } from './runWizard.js';
import { templateName, templateTarget } from './targets.js';

export function registerRunCommands(services: Services): void {
  const { commander } = services;
  const target = (argument: unknown) => templateTarget(services, argument);
  const failedToRun = (why: string, ref: TemplateRef | undefined) => l10n.t('Failed to run {0}: {1}', templateName(ref), why);
  const failedToBuild = (why: string, ref: TemplateRef | undefined) => l10n.t('Failed to build {0}: {1}', templateName(ref), why);

  commander.register(Commands.run, { target, failed: failedToRun, needsTrust: true, run: (ref) => startRun(services, ref, {}) });
  commander.register(Commands.runWith, {
    target,
    failed: failedToRun,
    needsTrust: true,
    run: async (ref) => {
      const options = await askRunOptions(services, ref);
      return options && startRun(services, ref, options);
    },
  });
  commander.register(Commands.build, { target, failed: failedToBuild, needsTrust: true, run: (ref) => build(services, ref, false) });
  commander.register(Commands.rebuild, { target, failed: failedToBuild, needsTrust: true, run: (ref) => build(services, ref, true) });
}

/** Resolves with the run as soon as it has an id; its progress is followed from then on. Undefined if it was cancelled before that. */
export async function startRun(services: Services, ref: TemplateRef, options: RunOptions): Promise<RunRef | undefined> {
  if (!(await saveAll())) return undefined;
  const chosen: RunOptions = { concurrency: defaultConcurrency(ref.file), provider: defaultProvider(ref.file), ...dropUndefined(options) };
  if (!(await mayCost(await services.runner.request('run/estimate', { ...ref, options: chosen })))) return undefined;
  const outcome = await withCancellableProgress(l10n.t('Starting {0}', templateName(ref)), (signal) => services.runner.request('run/start', { ...ref, options: chosen }, { signal }));
  if (outcome.cancelled) return undefined;
  const run = { root: ref.root, id: outcome.value.id };
  void followRun(services, run);
  return run;
}

/** What runs is what lies on disk, as with tasks and debugging. False if a person kept a file from being saved. */
const saveAll = async (): Promise<boolean> => vscode.workspace.saveAll(false);

const dropUndefined = (options: RunOptions): RunOptions => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

async function build({ runner, log }: Services, ref: TemplateRef, rebuild: boolean): Promise<unknown> {
  if (!(await saveAll())) return undefined;
  const name = templateName(ref);
  const outcome = await withCancellableProgress(l10n.t('Building {0}', name), (signal) =>
    runner.request('build', { ...ref, provider: defaultProvider(ref.file), rebuild }, { signal }),
  );
  if (outcome.cancelled) return undefined;
  const { snapshot, built } = outcome.value;
  const size = formatBytes(snapshot.sizeBytes);
  log.info(`${name}: snapshot ${snapshot.id}, ${size}, ${built ? 'built' : 'was there'}`);
  tellQuietly(built ? l10n.t('{0} built in {1}, {2}', name, formatDuration(snapshot.buildMs), size) : l10n.t('{0} is up to date, nothing to build', name));
  return outcome.value;
}
