/** Delete a snapshot, or prune those that nobody needs. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { SnapshotPruneRequest } from '../../../runner/sandboxApi.js';
import { Failure } from '../../failure.js';
import { formatBytes } from '../../format.js';
import { Commands } from '../../ids.js';
import { withCancellableProgress } from '../../progress.js';
import { tellQuietly } from '../../quiet.js';
import { pickRoot } from '../../roots.js';
import type { Services } from '../../services.js';
import type { KnownSnapshot } from '../../snapshots.js';
import { describeUses } from '../../views/snapshotNodes.js';
import { labelOf, snapshotTarget } from './targets.js';

const DAY = 86_400_000;
const GB = 1_000_000_000;

interface Pruning {
  readonly root: string;
  readonly request: SnapshotPruneRequest;
}

export function registerSnapshotRemoveCommands(services: Services): void {
  const { commander } = services;
  commander.register(Commands.deleteSnapshot, {
    target: (argument) => snapshotTarget(services, argument),
    needsTrust: true,
    failed: (why, known) => l10n.t('Failed to delete snapshot {0}: {1}', labelOf(known), why),
    run: (known) => deleteSnapshot(services, known),
  });
  commander.register(Commands.pruneSnapshots, {
    target: () => askPruning(services),
    needsTrust: true,
    failed: (why) => l10n.t('Failed to prune snapshots: {0}', why),
    run: (pruning) => prune(services, pruning),
  });
}

async function deleteSnapshot({ runner, snapshots }: Services, known: KnownSnapshot): Promise<void> {
  const { root, snapshot } = known;
  const { usedBy, pinned, origin } = snapshot;
  const detail = [
    origin ? l10n.t('What is in it is lost.') : l10n.t('The next run that needs it builds it again.'),
    ...(pinned ? [l10n.t('It is pinned.')] : []),
    ...(usedBy.length > 0 ? [l10n.t('It was used by {0}.', describeUses(usedBy))] : []),
  ].join(' ');
  const remove = l10n.t('Delete');
  if ((await vscode.window.showWarningMessage(l10n.t('Delete snapshot {0} of {1}?', labelOf(known), snapshot.template), { modal: true, detail }, remove)) !== remove) return;
  const used = (await runner.request('snapshot/delete', { root, id: snapshot.id })).usedBy;
  snapshots.invalidate(root);
  tellQuietly(used.length > 0 ? l10n.t('Snapshot {0} deleted; it was used by {1}', labelOf(known), describeUses(used)) : l10n.t('Snapshot {0} deleted', labelOf(known)));
}

async function askPruning({ snapshots }: Services): Promise<Pruning | undefined> {
  const root = await pickRoot();
  if (!root) return undefined;
  await snapshots.list();
  const age = (days: number) => ({ label: days === 1 ? l10n.t('Older than a day') : l10n.t('Older than {0} days', days), request: { olderThanMs: days * DAY } });
  const size = (bytes: number) => ({ label: l10n.t('The oldest, until {0} are left', formatBytes(bytes)), request: { keepBytes: bytes } });
  const items: (vscode.QuickPickItem & { request: SnapshotPruneRequest })[] = [
    { label: l10n.t('Those that a later build has replaced'), request: { replaced: true } },
    age(1),
    age(7),
    age(30),
    size(GB),
    size(10 * GB),
    { label: l10n.t('All that are not pinned'), request: { olderThanMs: 0 } },
  ];
  const placeHolder = l10n.t('Which? They take {0} in all. Those that are pinned or in use stay.', formatBytes(snapshots.totalBytes));
  const picked = await vscode.window.showQuickPick(items, { title: l10n.t('Prune Snapshots'), placeHolder });
  return picked && { root: root.path, request: picked.request };
}

/** Says what would go before it goes. */
async function prune({ runner, snapshots }: Services, { root, request }: Pruning): Promise<void> {
  const would = await runner.request('snapshot/prune', { root, ...request, dryRun: true });
  if (would.removed.length === 0) {
    const why = would.kept[0];
    if (why) throw new Failure(l10n.t('{0} would go but are in use: {1}', would.kept.length, why.why));
    return tellQuietly(l10n.t('There is no such snapshot'));
  }
  const bytes = would.removed.reduce((sum, one) => sum + one.bytes, 0);
  const yes = l10n.t('Prune');
  const question = l10n.t('Delete {0} snapshots, {1}?', would.removed.length, formatBytes(bytes));
  const detail = would.removed.slice(0, 10).map(({ id }) => id).join('\n') + (would.removed.length > 10 ? `\n${l10n.t('and {0} more', would.removed.length - 10)}` : '');
  if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) !== yes) return;
  const outcome = await withCancellableProgress(l10n.t('Pruning snapshots'), (signal) => runner.request('snapshot/prune', { root, ...request }, { signal }));
  snapshots.invalidate(root);
  if (outcome.cancelled) return;
  const { removed } = outcome.value;
  tellQuietly(l10n.t('{0} snapshots deleted, {1}', removed.length, formatBytes(removed.reduce((sum, one) => sum + one.bytes, 0))));
}
