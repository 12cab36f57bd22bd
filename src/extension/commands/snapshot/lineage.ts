/** From which snapshot a snapshot was made, and which were made from it. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Commands } from '../../ids.js';
import type { Services } from '../../services.js';
import type { KnownSnapshot } from '../../snapshots.js';
import { snapshotNode } from '../../views/snapshotNodes.js';
import { labelOf, snapshotTarget } from './targets.js';

export function registerLineageCommand(services: Services): void {
  services.commander.register(Commands.showLineage, {
    target: (argument) => snapshotTarget(services, argument),
    needsTrust: true,
    failed: (why, known) => l10n.t('Failed to show the lineage of snapshot {0}: {1}', labelOf(known), why),
    run: (known) => showLineage(services, known),
  });
}

async function showLineage({ runner }: Services, known: KnownSnapshot): Promise<void> {
  const { root } = known;
  const own = known.snapshot.id;
  const line = await runner.request('snapshot/lineage', { root, id: own });
  const now = Date.now();
  const at = line.findIndex(({ id }) => id === own);
  const items = line.map(({ id, snapshot }, index) => {
    const depth = Math.min(index, at + 1);
    const node = snapshot && snapshotNode(root, snapshot, { now });
    const mark = id === own ? '$(arrow-right) ' : '';
    return { label: `${'\u2003'.repeat(depth)}${mark}${node?.label ?? id}`, description: node?.description ?? l10n.t('gone'), ...(snapshot?.note && { detail: snapshot.note.slice(0, 200) }), ref: node?.snapshot };
  });
  const picked = await vscode.window.showQuickPick(items, { title: l10n.t('Lineage of {0}', labelOf(known)), placeHolder: l10n.t('From which each was made. Enter opens a sandbox of it.') });
  const item = picked?.ref && { node: { snapshot: picked.ref } };
  if (item) await vscode.commands.executeCommand(Commands.openSandbox, item);
}
