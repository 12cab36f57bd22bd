/** What a person says of a snapshot: its name, a note, whether it stays. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Commands } from '../../ids.js';
import type { Services } from '../../services.js';
import type { KnownSnapshot } from '../../snapshots.js';
import { labelOf, snapshotTarget } from './targets.js';

export function registerSnapshotEditCommands(services: Services): void {
  const { commander, runner, snapshots } = services;
  const target = (argument: unknown) => snapshotTarget(services, argument);
  const at = ({ root, snapshot }: KnownSnapshot) => ({ root, id: snapshot.id });
  commander.register(Commands.renameSnapshot, {
    target,
    needsTrust: true,
    failed: (why, known) => l10n.t('Failed to rename snapshot {0}: {1}', labelOf(known), why),
    run: async (known) => {
      const name = await vscode.window.showInputBox({ title: l10n.t('Rename Snapshot {0}', labelOf(known)), prompt: l10n.t('A name; an empty one takes it away'), value: known.snapshot.name ?? '' });
      if (name === undefined) return;
      await runner.request('snapshot/rename', { ...at(known), name: name.trim() });
      snapshots.invalidate(known.root);
    },
  });
  commander.register(Commands.noteSnapshot, {
    target,
    needsTrust: true,
    failed: (why, known) => l10n.t('Failed to write a note on snapshot {0}: {1}', labelOf(known), why),
    run: async (known) => {
      const note = await vscode.window.showInputBox({ title: l10n.t('Note on Snapshot {0}', labelOf(known)), value: known.snapshot.note ?? '' });
      if (note === undefined) return;
      await runner.request('snapshot/note', { ...at(known), note: note.trim() });
      snapshots.invalidate(known.root);
    },
  });
  const pin = async (known: KnownSnapshot, pinned: boolean) => {
    await runner.request('snapshot/pin', { ...at(known), pinned });
    snapshots.invalidate(known.root);
  };
  commander.register(Commands.pinSnapshot, {
    target: (argument) => snapshotTarget(services, argument, ({ snapshot }) => !snapshot.pinned),
    needsTrust: true,
    failed: (why, known) => l10n.t('Failed to pin snapshot {0}: {1}', labelOf(known), why),
    run: (known) => pin(known, true),
  });
  commander.register(Commands.unpinSnapshot, {
    target: (argument) => snapshotTarget(services, argument, ({ snapshot }) => snapshot.pinned === true),
    needsTrust: true,
    failed: (why, known) => l10n.t('Failed to unpin snapshot {0}: {1}', labelOf(known), why),
    run: (known) => pin(known, false),
  });
}
