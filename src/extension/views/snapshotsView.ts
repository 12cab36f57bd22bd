import * as l10n from '@vscode/l10n';
import { isCancellation, reason } from '../failure.js';
import { formatBytes, oneLine } from '../format.js';
import { Views } from '../ids.js';
import type { Services } from '../services.js';
import type { Node } from './node.js';
import { failureNode } from './problemNodes.js';
import { snapshotNode } from './snapshotNodes.js';
import { Tree } from './tree.js';

/** Every snapshot of the workspace in one list, newest first, with what all of them take. Beneath its template each stands too. */
export function createSnapshotsView({ snapshots, templates }: Services): Tree {
  const nodes = (): Node[] => {
    const now = Date.now();
    return [...snapshots.known()]
      .sort((a, b) => b.snapshot.createdAt - a.snapshot.createdAt)
      .map(({ root, snapshot }) => {
        const node = snapshotNode(root, snapshot, { now, current: templates.get(snapshot.file)?.status?.current });
        const template = oneLine(snapshot.template, 80);
        return { ...node, description: `${template}  ·  ${node.description}`, spoken: l10n.t('{0}, of template {1}', node.spoken, template) };
      });
  };
  const load = async (): Promise<Node[]> => {
    try {
      await snapshots.list();
      return nodes();
    } catch (error) {
      return isCancellation(error) ? [] : [failureNode(reason(error))];
    }
  };
  const tree = new Tree({ id: Views.snapshots, load, tickMs: 60_000 });
  tree.also(
    snapshots.onDidChange(() => {
      const count = snapshots.known().length;
      tree.view.description = count > 0 ? l10n.t('{0}, {1} in all', count, formatBytes(snapshots.totalBytes)) : undefined;
      tree.refresh();
    }),
  );
  const watch = () => snapshots.watch(tree, tree.view.visible);
  tree.also(tree.view.onDidChangeVisibility(watch));
  watch();
  return tree;
}
