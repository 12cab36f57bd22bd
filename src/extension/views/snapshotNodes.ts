/** Snapshots as tree items. */
import * as l10n from '@vscode/l10n';
import type { SnapshotReport, SnapshotUse } from '../../runner/sandboxApi.js';
import type { SnapshotRecord } from '../../store/records.js';
import { formatAgo, formatBytes, formatDuration, oneLine } from '../format.js';
import { Items } from '../ids.js';
import type { Node } from './node.js';

/** Id of the node that holds the snapshots whose template is gone. */
export const OTHER_SNAPSHOTS = 'other-snapshots';

/** What the engine knows of a snapshot: all of it once it has been measured, before that the record alone. */
type Known = SnapshotRecord & Partial<Omit<SnapshotReport, keyof SnapshotRecord>>;

/** What a person calls it, or the beginning of what was built; of one that was taken, the end of its id. */
export const snapshotLabel = ({ name, origin, digest, id }: Pick<SnapshotRecord, 'name' | 'origin' | 'digest' | 'id'>): string =>
  oneLine(name || (origin ? id.slice(-7) : digest.replace(/^sha256:/, '').slice(0, 7)), 80);

export function otherSnapshotsNode(count: number): Node {
  const label = l10n.t('Other Snapshots');
  return {
    id: OTHER_SNAPSHOTS,
    label,
    description: String(count),
    spoken: l10n.t('{0} snapshots whose template is gone', count),
    tooltip: () => l10n.t('Snapshots whose template is gone.'),
    icon: { id: 'archive' },
    children: 'collapsed',
  };
}

export function snapshotNode(root: string, snapshot: Known, { now, current }: { readonly now: number; readonly current?: string | undefined }): Node {
  const { id, file, provider, kind, pinned, exists, parent, stale = [], createdAt } = snapshot;
  const label = snapshotLabel(snapshot);
  const isCurrent = id === current;
  const size = formatBytes(snapshot.ownBytes ?? snapshot.sizeBytes);
  const marks = [
    isCurrent && l10n.t('current'),
    exists === false && l10n.t('gone'),
    kind === 'memory' && l10n.t('memory'),
    pinned && l10n.t('pinned'),
    !isCurrent && stale.length > 0 && l10n.t('stale: {0} changed', stale.map((part) => oneLine(part, 40)).join(', ')),
  ].filter((mark) => typeof mark === 'string');
  const description = [...marks, provider, size, formatAgo(createdAt, now)].join('  ·  ');
  return {
    id: `snapshot:${file}:${id}`,
    label,
    description,
    spoken: l10n.t('Snapshot {0}, {1}', label, [...marks, size].join(', ')),
    tooltip: () => tooltip(snapshot, isCurrent, now),
    icon: icon(snapshot, isCurrent),
    item: parent === undefined ? (pinned ? Items.pinnedSnapshot : Items.snapshot) : pinned ? Items.pinnedChildSnapshot : Items.childSnapshot,
    snapshot: { root, id, name: label },
  };
}

function icon({ exists, pinned, kind }: Known, isCurrent: boolean): NonNullable<Node['icon']> {
  if (exists === false) return { id: 'warning', color: 'list.warningForeground' };
  return { id: pinned ? 'pinned' : isCurrent ? 'pass' : kind === 'memory' ? 'chip' : 'archive' };
}

function tooltip(snapshot: Known, isCurrent: boolean, now: number): string {
  const { id, provider, kind, sizeBytes, ownBytes, buildMs, createdAt, origin, parent, note, exists, stale, usedBy = [], children = [], live } = snapshot;
  const lines = [
    kind === 'memory' ? l10n.t('Memory snapshot {0} on {1}', id, provider) : l10n.t('Filesystem snapshot {0} on {1}', id, provider),
    origin === 'sandbox'
      ? l10n.t('taken of a sandbox {0}', formatAgo(createdAt, now))
      : origin === 'import'
        ? l10n.t('imported {0}', formatAgo(createdAt, now))
        : l10n.t('built {0}, in {1}', formatAgo(createdAt, now), formatDuration(buildMs)),
    ownBytes === undefined ? formatBytes(sizeBytes) : l10n.t('{0}, of which {1} are not shared', formatBytes(sizeBytes), formatBytes(ownBytes)),
  ];
  if (note) lines.push(oneLine(note, 400));
  if (parent) lines.push(l10n.t('made from {0}', oneLine(parent)));
  if (children.length > 0) lines.push(l10n.t('{0} snapshots were made from it', children.length));
  if (usedBy.length > 0) lines.push(l10n.t('used by {0}', describeUses(usedBy)));
  if (live) lines.push(l10n.t('{0} sandboxes live on it', live));
  if (exists === false) lines.push(l10n.t('Its provider does not have it any more.'));
  if (isCurrent) lines.push(l10n.t('Runs restore this one.'));
  else if (stale?.length) lines.push(l10n.t('Its template has changed since: rebuild.'));
  return lines.join('\n');
}

/** `run #3, run #4 and 5 more`. */
export function describeUses(uses: readonly SnapshotUse[]): string {
  const shown = uses.slice(0, 5).map(({ number }) => l10n.t('run #{0}', number)).join(', ');
  return uses.length > 5 ? l10n.t('{0} and {1} more', shown, uses.length - 5) : shown;
}
