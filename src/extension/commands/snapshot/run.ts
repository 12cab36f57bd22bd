/** A run of a snapshot's template whose episodes start from that snapshot, whatever the template builds now. */
import * as l10n from '@vscode/l10n';
import { Failure } from '../../failure.js';
import { Commands } from '../../ids.js';
import type { Services } from '../../services.js';
import { startRun } from '../run.js';
import { labelOf, snapshotTarget } from './targets.js';

export function registerRunSnapshotCommand(services: Services): void {
  services.commander.register(Commands.runSnapshot, {
    target: (argument) => snapshotTarget(services, argument),
    needsTrust: true,
    failed: (why, known) => l10n.t('Failed to run from snapshot {0}: {1}', labelOf(known), why),
    run: async ({ root, snapshot: { id, file, template } }) => {
      // Of an imported one nobody knows where its template is; one of the name may be here.
      const found = (await services.templates.list()).filter(({ ref, status }) => ref.root === root && (file === '' ? status?.name === template : ref.file === file));
      if (found.length !== 1) throw new Failure(l10n.t('its template {0} is not in this workspace', template));
      return startRun(services, found[0]!.ref, { snapshot: id });
    },
  });
}
