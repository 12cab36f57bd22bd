/** Terminals in sandboxes. */
import * as l10n from '@vscode/l10n';
import { Commands, InternalCommands } from '../../ids.js';
import type { Services } from '../../services.js';
import { nodeOf } from '../targets.js';
import { nameOf, sandboxTarget } from './targets.js';

export function registerTerminalCommands(services: Services): void {
  const { commander, terminals } = services;
  commander.register(Commands.openSandboxTerminal, {
    target: (argument) => sandboxTarget(services, argument),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to open a terminal in {0}: {1}', nameOf(services, ref), why),
    run: (ref) => Promise.resolve(terminals.open(ref, nameOf(services, ref))),
  });
  const numberOf = (argument: unknown) => nodeOf(argument)?.terminal ?? (typeof argument === 'number' ? argument : undefined);
  commander.register(InternalCommands.showTerminal, {
    target: numberOf,
    failed: (why) => l10n.t('Failed to show the terminal: {0}', why),
    run: (number) => Promise.resolve(terminals.show(number)),
  });
  commander.register(Commands.closeSandboxTerminal, {
    target: numberOf,
    failed: (why) => l10n.t('Failed to close the terminal: {0}', why),
    run: (number) => Promise.resolve(terminals.close(number)),
  });
}
