/** A sandbox's processes to disk, where they use nothing, and back. */
import * as l10n from '@vscode/l10n';
import { Commands } from '../../ids.js';
import { withCancellableProgress } from '../../progress.js';
import type { Services } from '../../services.js';
import { isSuspendable, isSuspended } from '../../views/sandboxNodes.js';
import { nameOf, sandboxTarget } from './targets.js';

export function registerSuspendCommands(services: Services): void {
  const { commander, runner, sandboxes } = services;
  commander.register(Commands.suspendSandbox, {
    target: (argument) => sandboxTarget(services, argument, ({ sandbox }) => isSuspendable(sandbox)),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to suspend {0}: {1}', nameOf(services, ref), why),
    run: async (ref) => {
      const { root, id } = ref;
      const outcome = await withCancellableProgress(l10n.t('Suspending {0}', nameOf(services, ref)), (signal) => runner.request('sandbox/suspend', { root, id }, { signal }));
      if (!outcome.cancelled) sandboxes.took(root, outcome.value);
    },
  });
  commander.register(Commands.resumeSandbox, {
    target: (argument) => sandboxTarget(services, argument, ({ sandbox }) => isSuspended(sandbox)),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to resume {0}: {1}', nameOf(services, ref), why),
    run: async (ref) => {
      const { root, id } = ref;
      const outcome = await withCancellableProgress(l10n.t('Resuming {0}', nameOf(services, ref)), (signal) => runner.request('sandbox/resume', { root, id }, { signal }));
      if (!outcome.cancelled) sandboxes.took(root, outcome.value);
    },
  });
}
