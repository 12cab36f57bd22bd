/** A snapshot of a sandbox as it is now: of its files, or of its processes too. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { SnapshotKind } from '../../../sandbox/provider.js';
import { formatBytes, oneLine } from '../../format.js';
import { Commands } from '../../ids.js';
import { withCancellableProgress } from '../../progress.js';
import { tellQuietly } from '../../quiet.js';
import type { Services } from '../../services.js';
import type { SandboxRef } from '../../views/node.js';
import { snapshotLabel } from '../../views/snapshotNodes.js';
import { nameOf, sandboxTarget } from './targets.js';

interface Taking {
  readonly ref: SandboxRef;
  readonly kind: SnapshotKind;
  readonly name: string;
}

export function registerSnapshotCommands(services: Services): void {
  const { commander } = services;
  const target = async (argument: unknown): Promise<Taking | undefined> => {
    const ref = await sandboxTarget(services, argument);
    const kind = ref && (await pickKind(services, ref));
    const name = kind && (await vscode.window.showInputBox({ title: l10n.t('Snapshot of {0}', nameOf(services, ref)), prompt: l10n.t('A name for it; none is fine, too') }));
    return name === undefined ? undefined : { ref: ref!, kind: kind!, name: name.trim() };
  };
  const failed = (why: string, taking: Taking | undefined) => l10n.t('Failed to snapshot {0}: {1}', nameOf(services, taking?.ref), why);
  commander.register(Commands.snapshotSandbox, { target, needsTrust: true, failed, run: (taking) => take(services, taking) });
}

/** Asked only where the provider has both. */
async function pickKind({ sandboxes, setup }: Services, ref: SandboxRef): Promise<SnapshotKind | undefined> {
  if (!sandboxes.get(ref)?.sandbox.memorySnapshots) return 'filesystem';
  const missing = setup.known?.providers.find(({ id }) => id === ref.provider)?.noMemorySnapshots;
  const kinds: (vscode.QuickPickItem & { readonly kindOf: SnapshotKind })[] = [
    { kindOf: 'filesystem', label: l10n.t('$(archive) Files'), detail: l10n.t('What is on its disk. It starts with no process.') },
    { kindOf: 'memory', label: l10n.t('$(chip) Memory'), detail: missing ? l10n.t('Not possible here: {0}', oneLine(missing, 200)) : l10n.t('Its files, and its running processes, which go on in every sandbox of it.') },
  ];
  return (await vscode.window.showQuickPick(kinds, { placeHolder: l10n.t('What does the snapshot hold?') }))?.kindOf;
}

async function take(services: Services, { ref, kind, name }: Taking): Promise<string | undefined> {
  const { root, id } = ref;
  const outcome = await withCancellableProgress(l10n.t('Snapshotting {0}', nameOf(services, ref)), (signal) => services.runner.request('sandbox/snapshot', { root, id, kind, ...(name && { name }) }, { signal }));
  if (outcome.cancelled) return undefined;
  const snapshot = outcome.value;
  services.snapshots.invalidate(root);
  tellQuietly(l10n.t('Snapshot {0}, {1}', snapshotLabel(snapshot), formatBytes(snapshot.ownBytes ?? snapshot.sizeBytes)));
  return snapshot.id;
}
