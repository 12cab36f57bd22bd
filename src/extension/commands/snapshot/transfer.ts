/** Snapshots as files: out of here, and in from elsewhere. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Failure } from '../../failure.js';
import { formatBytes } from '../../format.js';
import { Commands } from '../../ids.js';
import { withCancellableProgress } from '../../progress.js';
import { tellQuietly } from '../../quiet.js';
import { pickRoot } from '../../roots.js';
import type { Services } from '../../services.js';
import type { KnownSnapshot } from '../../snapshots.js';
import { snapshotLabel } from '../../views/snapshotNodes.js';
import { labelOf, snapshotTarget } from './targets.js';

const EXTENSION = 'rlsnapshot';

export function registerSnapshotTransferCommands(services: Services): void {
  const { commander } = services;
  commander.register(Commands.exportSnapshot, {
    target: (argument) => snapshotTarget(services, argument),
    needsTrust: true,
    failed: (why, known) => l10n.t('Failed to export snapshot {0}: {1}', labelOf(known), why),
    run: (known) => exportSnapshot(services, known),
  });
  commander.register(Commands.importSnapshot, {
    target: async () => {
      const root = await pickRoot();
      const [file] = (root && (await vscode.window.showOpenDialog({ canSelectMany: false, openLabel: l10n.t('Import'), filters: { [l10n.t('Snapshots')]: [EXTENSION], [l10n.t('All files')]: ['*'] } }))) ?? [];
      return file && { root: root!.path, file: onDisk(file) };
    },
    needsTrust: true,
    failed: (why) => l10n.t('Failed to import a snapshot: {0}', why),
    run: (what) => importSnapshot(services, what),
  });
}

async function exportSnapshot({ runner }: Services, { root, snapshot }: KnownSnapshot): Promise<void> {
  const label = snapshotLabel(snapshot);
  const suggested = vscode.Uri.joinPath(vscode.Uri.file(root), `${snapshot.template}-${label.replace(/[^\w.-]+/g, '_')}.${EXTENSION}`);
  const target = await vscode.window.showSaveDialog({ defaultUri: suggested, filters: { [l10n.t('Snapshots')]: [EXTENSION] }, saveLabel: l10n.t('Export') });
  if (!target) return;
  const file = onDisk(target);
  const outcome = await withCancellableProgress(l10n.t('Exporting snapshot {0}', label), (signal) => runner.request('snapshot/export', { root, id: snapshot.id, file }, { signal }));
  if (!outcome.cancelled) tellQuietly(l10n.t('Snapshot {0} exported, {1}', label, formatBytes(outcome.value.bytes)));
}

async function importSnapshot({ runner, snapshots }: Services, { root, file }: { root: string; file: string }): Promise<void> {
  const outcome = await withCancellableProgress(l10n.t('Importing a snapshot'), (signal) => runner.request('snapshot/import', { root, file }, { signal }));
  if (outcome.cancelled) return;
  snapshots.invalidate(root);
  tellQuietly(l10n.t('Snapshot {0} of {1} imported', snapshotLabel(outcome.value), outcome.value.template));
}

function onDisk(uri: vscode.Uri): string {
  if (uri.scheme !== 'file') throw new Failure(l10n.t('the file must be on disk'));
  return uri.fsPath;
}
