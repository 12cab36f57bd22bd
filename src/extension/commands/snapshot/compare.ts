/** Compare with Parent: what is other in a snapshot than in the one that it was made from, file by file, in VS Code's diff editor. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { FileChange } from '../../../sandbox/provider.js';
import { Commands } from '../../ids.js';
import { withCancellableProgress } from '../../progress.js';
import { snapshotAddress } from '../../sandbox/address.js';
import type { Services } from '../../services.js';
import type { KnownSnapshot } from '../../snapshots.js';
import { showChanges } from '../changes.js';
import { labelOf, snapshotTarget } from './targets.js';

export function registerCompareSnapshotCommand(services: Services): void {
  services.commander.register(Commands.compareSnapshot, {
    target: (argument) => snapshotTarget(services, argument, ({ snapshot }) => snapshot.parent !== undefined),
    needsTrust: true,
    failed: (why, known) => l10n.t('Failed to compare snapshot {0} with its parent: {1}', labelOf(known), why),
    run: (known) => compare(services, known),
  });
}

async function compare({ runner }: Services, known: KnownSnapshot): Promise<readonly FileChange[] | undefined> {
  const { root, snapshot } = known;
  const name = labelOf(known);
  const outcome = await withCancellableProgress(l10n.t('Comparing snapshot {0} with its parent', name), (signal) => runner.request('snapshot/changes', { root, id: snapshot.id }, { signal }));
  if (outcome.cancelled) return undefined;
  const { parent, changes } = outcome.value;
  const side = (id: string, path: string) => vscode.Uri.from(snapshotAddress(id, path));
  return showChanges(changes, {
    name,
    title: l10n.t('{0}: changes to its parent', name),
    before: (path) => side(parent, path),
    after: (path) => side(snapshot.id, path),
  });
}
