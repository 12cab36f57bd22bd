/** End sandboxes: one, all, or those that nobody owns any more. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { TerminateReport } from '../../../runner/sandboxApi.js';
import { nothing } from '../../commander.js';
import { Failure } from '../../failure.js';
import { Commands } from '../../ids.js';
import { withCancellableProgress } from '../../progress.js';
import { tellQuietly } from '../../quiet.js';
import { noFolder, roots } from '../../roots.js';
import { refOfSandbox, type KnownSandbox } from '../../sandboxes.js';
import type { Services } from '../../services.js';
import type { SandboxRef } from '../../views/node.js';
import { nameOf, sandboxTarget } from './targets.js';

export function registerTerminateCommands(services: Services): void {
  const { commander } = services;
  commander.register(Commands.terminateSandbox, {
    target: (argument) => sandboxTarget(services, argument, () => true),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to terminate {0}: {1}', nameOf(services, ref), why),
    run: (ref) => terminate(services, ref),
  });
  commander.register(Commands.terminateAllSandboxes, {
    target: nothing,
    needsTrust: true,
    failed: (why) => l10n.t('Failed to terminate all sandboxes: {0}', why),
    run: () => terminateAll(services),
  });
  commander.register(Commands.terminateOrphans, {
    target: nothing,
    needsTrust: true,
    failed: (why) => l10n.t('Failed to terminate orphaned sandboxes: {0}', why),
    run: () => terminateMany(services, 'sandbox/terminateOrphans', l10n.t('Terminating orphaned sandboxes')),
  });
}

const agreed = async (question: string, detail: string, yes: string): Promise<boolean> => (await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) === yes;

/** Asks first where there is something to lose: a person's own work, or an episode. */
async function terminate(services: Services, ref: SandboxRef): Promise<void> {
  const known = services.sandboxes.get(ref);
  const loss = known && whatIsLost(known);
  if (loss && !(await agreed(l10n.t('Terminate {0}?', nameOf(services, ref)), loss, l10n.t('Terminate')))) return;
  await services.runner.request('sandbox/terminate', ref);
  services.sandboxes.dropped(ref);
}

function whatIsLost({ sandbox }: KnownSandbox): string | undefined {
  if (sandbox.orphan || sandbox.state === 'exited') return undefined;
  if (sandbox.origin !== 'other') return l10n.t('Its files and processes are lost. A snapshot keeps its files.');
  return sandbox.labels.episode === undefined ? l10n.t('Something still works in it.') : l10n.t('The episode that runs in it is lost.');
}

async function terminateAll(services: Services): Promise<void> {
  const list = await services.sandboxes.list();
  const own = list.filter(({ sandbox }) => sandbox.origin !== 'other' || sandbox.orphan);
  if (own.length === 0) return tellQuietly(list.length === 0 ? l10n.t('No sandbox is live') : l10n.t('All sandboxes belong to runs or builds under way'));
  const detail = l10n.t('Their files and processes are lost. Episodes and builds under way go on.');
  const question = own.length === 1 ? l10n.t('Terminate {0}?', nameOf(services, refOfSandbox(own[0]!))) : l10n.t('Terminate all {0} sandboxes?', own.length);
  if (await agreed(question, detail, l10n.t('Terminate All'))) await terminateMany(services, 'sandbox/terminateAll', l10n.t('Terminating sandboxes'));
}

async function terminateMany({ runner, sandboxes }: Services, method: 'sandbox/terminateAll' | 'sandbox/terminateOrphans', title: string): Promise<void> {
  if (roots().length === 0) throw noFolder();
  const before = sandboxes.known();
  const outcome = await withCancellableProgress(title, (signal) => Promise.all(roots().map(({ path }) => runner.request(method, { root: path }, { signal }))));
  sandboxes.invalidate();
  if (outcome.cancelled) return;
  const failed = outcome.value.flatMap((report: TerminateReport) => report.failed);
  const ended = outcome.value.reduce((sum, report) => sum + report.ended, 0);
  if (failed[0]) throw new Failure(l10n.t('{0} ended, {1} not: {2}', ended, failed.length, failed[0].message));
  tellQuietly(ended === 0 ? l10n.t('No sandbox had to be ended') : l10n.t('{0} sandboxes terminated', ended));
  if (method === 'sandbox/terminateAll') for (const known of before) if (known.sandbox.origin !== 'other' || known.sandbox.orphan) sandboxes.dropped(refOfSandbox(known));
}
