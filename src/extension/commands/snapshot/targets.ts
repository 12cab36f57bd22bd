/** Which snapshot a command acts on. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Failure } from '../../failure.js';
import type { KnownSnapshot } from '../../snapshots.js';
import type { Services } from '../../services.js';
import { snapshotLabel, snapshotNode } from '../../views/snapshotNodes.js';
import { snapshotOf } from '../targets.js';

/** The one that was clicked, if it is still there, else one that a person picks. Rejects with `Failure`. */
export async function snapshotTarget({ snapshots }: Services, argument: unknown, fits: (known: KnownSnapshot) => boolean = () => true): Promise<KnownSnapshot | undefined> {
  const list = await snapshots.list();
  const passed = snapshotOf(argument);
  if (passed) {
    const known = list.find(({ root, snapshot }) => root === passed.root && snapshot.id === passed.id);
    if (!known) throw new Failure(l10n.t('it is gone'));
    return known;
  }
  const fitting = list.filter(fits);
  if (fitting.length === 0) throw new Failure(l10n.t('there is no such snapshot'));
  const now = Date.now();
  const items = fitting.map((known) => {
    const { label, description } = snapshotNode(known.root, known.snapshot, { now });
    return { label: `${known.snapshot.template}  ${label}`, description, known };
  });
  return (await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which snapshot?'), matchOnDescription: true }))?.known;
}

export const labelOf = (known: KnownSnapshot | undefined): string => (known ? snapshotLabel(known.snapshot) : l10n.t('the snapshot'));
