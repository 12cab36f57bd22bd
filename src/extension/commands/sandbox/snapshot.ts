/** A snapshot of a sandbox as it is now: of its files, or of its processes too. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { SnapshotKind } from '../../../sandbox/provider.js';
import { formatBytes } from '../../format.js';
import { Commands } from '../../ids.js';
import { withCancellableProgress } from '../../progress.js';
import { tellQuietly } from '../../quiet.js';
import type { Services } from '../../services.js';
import type { SandboxRef } from '../../views/node.js';
import { snapshotLabel } from '../../views/snapshotNodes.js';
import { nameOf, sandboxTarget } from './targets.js';

interface Taking {
  readonly ref: SandboxRef;
  readonly name: string;
}

export function registerSnapshotCommands(services: Services): void {
  const { commander } = services;
  const target = async (argument: unknown): Promise<Taking | undefined> => {
    const ref = await sandboxTarget(services, argument);
    const name = ref && (await vscode.window.showInputBox({ title: l10n.t('Snapshot of {0}', nameOf(services, ref)), prompt: l10n.t('A name for it; none is fine, too') }));
    return name === undefined ? undefined : { ref: ref!, name: name.trim() };
  };
  const failed = (why: string, taking: Taking | undefined) => l10n.t('Failed to snapshot {0}: {1}', nameOf(services, taking?.ref), why);
  commander.register(Commands.snapshotSandbox, { target, needsTrust: true, failed, run: (taking) => take(services, taking, 'filesystem') });
  commander.register(Commands.snapshotSandboxMemory, { target, needsTrust: true, failed, run: (taking) => take(services, taking, 'memory') });
}

async function take(services: Services, { ref, name }: Taking, kind: SnapshotKind): Promise<string | undefined> {
  const { root, id } = ref;
  const outcome = await withCancellableProgress(l10n.t('Snapshotting {0}', nameOf(services, ref)), (signal) => services.runner.request('sandbox/snapshot', { root, id, kind, ...(name && { name }) }, { signal }));
  if (outcome.cancelled) return undefined;
  const snapshot = outcome.value;
  services.snapshots.invalidate(root);
  tellQuietly(l10n.t('Snapshot {0}, {1}', snapshotLabel(snapshot), formatBytes(snapshot.ownBytes ?? snapshot.sizeBytes)));
  return snapshot.id;
}
