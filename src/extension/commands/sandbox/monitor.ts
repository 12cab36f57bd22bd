/** The processor and memory of a sandbox over the last minutes. */
import * as l10n from '@vscode/l10n';
import { Commands } from '../../ids.js';
import type { Services } from '../../services.js';
import { nameOf, sandboxTarget } from './targets.js';

export function registerMonitorCommand(services: Services): void {
  services.commander.register(Commands.showSandboxMonitor, {
    target: (argument) => sandboxTarget(services, argument),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to show what {0} uses: {1}', nameOf(services, ref), why),
    run: (ref) => Promise.resolve(services.monitors.open(ref, nameOf(services, ref))),
  });
}
