import type { SnapshotReport } from '../../runner/sandboxApi.js';
import type { SnapshotRecord } from '../../store/records.js';
import type { Services } from '../services.js';
import { roots } from '../roots.js';
import { reason } from '../failure.js';
import { Views } from '../ids.js';
import type { KnownTemplate } from '../templates.js';
import type { Node } from './node.js';
import { failureNode, providerProblems } from './problemNodes.js';
import { OTHER_SNAPSHOTS, otherSnapshotsNode, snapshotNode } from './snapshotNodes.js';
import { templateNode, type TemplateView } from './templateNodes.js';
import { Tree } from './tree.js';

/** Templates with their snapshots beneath; what keeps everything from running stands above them. */
export function createTemplatesView({ templates, runs, setup, snapshots }: Services): Tree {
  /** Until all that is told of snapshots has been measured, what the template's status says of them. */
  const snapshotsOf = ({ ref, status }: KnownTemplate): readonly (SnapshotReport | SnapshotRecord)[] => {
    const reports = snapshots.known().filter(({ root, snapshot }) => root === ref.root && snapshot.file === ref.file).map(({ snapshot }) => snapshot);
    const known = new Set(reports.map(({ id }) => id));
    return [...reports, ...(snapshots.isKnown(ref.root) ? [] : (status?.snapshots ?? []).filter(({ id }) => !known.has(id)))];
  };
  /** Those whose template is gone. */
  const others = () => snapshots.known().filter(({ root, snapshot }) => templates.get(snapshot.file)?.ref.root !== root);

  const describe = (known: KnownTemplate): TemplateView => {
    const { ref, status, failure } = known;
    const lastRun = runs.known().find(({ root, summary }) => root === ref.root && summary.run.file === ref.file && summary.run.state === 'done');
    const folder = roots().length > 1 ? roots().find(({ path }) => path === ref.root)?.name : undefined;
    return { ref, status, failure, snapshots: snapshotsOf(known).length, lastRun: lastRun?.summary, folder };
  };

  const load = async (parent: Node | undefined): Promise<Node[]> => {
    const now = Date.now();
    if (parent?.id === OTHER_SNAPSHOTS) return others().map(({ root, snapshot }) => snapshotNode(root, snapshot, { now }));
    if (parent) {
      const known = parent.template && templates.get(parent.template.file);
      return known ? snapshotsOf(known).map((snapshot) => snapshotNode(known.ref.root, snapshot, { now, current: known.status?.current })) : [];
    }
    try {
      const list = await templates.list();
      templates.ask();
      // For the last mean of each; it arrives as a change of the list.
      void runs.list().catch(() => undefined);
      if (list.length > 0) setup.ensure();
      const problems = setup.known && list.length > 0 ? providerProblems(setup.known) : [];
      const orphans = others().length;
      return [...problems, ...list.map((known) => templateNode(describe(known), now)), ...(orphans > 0 ? [otherSnapshotsNode(orphans)] : [])];
    } catch (error) {
      return [failureNode(reason(error))];
    }
  };

  const tree = new Tree({ id: Views.templates, load, onShown: () => templates.ask(), tickMs: 60_000 });
  const told = new Map<string, string>();
  const redraw = (known: KnownTemplate) => {
    tree.update(templateNode(describe(known), Date.now()));
    // What has made a template stale has made its snapshots stale.
    const { ref, status } = known;
    const state = JSON.stringify([status?.state, status?.changed]);
    if ((told.get(ref.file) ?? state) !== state) snapshots.invalidate(ref.root);
    told.set(ref.file, state);
  };
  tree.also(templates.onDidChangeList(() => tree.refresh()));
  tree.also(templates.onDidChange(redraw));
  tree.also(snapshots.onDidChange(() => tree.refresh()));
  const watch = () => snapshots.watch(tree, tree.view.visible);
  tree.also(tree.view.onDidChangeVisibility(watch));
  watch();
  tree.also(templates.onDidGetDirty(() => tree.view.visible && templates.ask()));
  tree.also(runs.onDidChangeList(() => tree.refresh()));
  tree.also(setup.onDidChange(() => tree.refresh()));
  return tree;
}
