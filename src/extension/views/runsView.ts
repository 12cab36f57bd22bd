import * as l10n from '@vscode/l10n';
import { reason } from '../failure.js';
import { Views } from '../ids.js';
import type { Services } from '../services.js';
import type { Node, RunRef } from './node.js';
import { failureNode } from './problemNodes.js';
import { EXTREMES, isActive, moreRunsNode, runChildren, runNode } from './runNodes.js';
import { Tree } from './tree.js';

const PAGE = 50;
/** How old the episodes beneath a run that goes on may be, in ms: each look sorts all of them. */
const CHILDREN_MS = 3000;

export interface RunsView {
  readonly tree: Tree;
  /** Shows another page of older runs. */
  readonly loadMore: () => void;
}

/** Runs, newest first, with their best, worst and failed episodes beneath. The badge counts episodes in flight. */
export function createRunsView({ runs, runner, log }: Services): RunsView {
  let shown = PAGE;
  const recent = new Map<string, { readonly at: number; readonly nodes: Node[] }>();

  const topNodes = async (): Promise<Node[]> => {
    const list = await runs.list();
    const now = Date.now();
    const nodes = list.slice(0, shown).map(({ root, summary }) => runNode(root, summary, now));
    return list.length > shown ? [...nodes, moreRunsNode(list.length - shown)] : nodes;
  };

  const childNodes = async (ref: RunRef): Promise<Node[]> => {
    const summary = runs.get(ref);
    if (!summary) return [];
    const cached = recent.get(ref.id);
    if (cached && isActive(summary) && Date.now() - cached.at < CHILDREN_MS) return cached.nodes;
    const query = { filter: '', sort: 'reward' as const, start: 0, count: EXTREMES };
    const [snapshot, best, worst] = await Promise.all([
      runner.request('run/snapshot', ref),
      runner.request('run/rows', { ...ref, query: { ...query, descending: true } }),
      runner.request('run/rows', { ...ref, query: { ...query, descending: false } }),
    ]);
    const nodes = runChildren(ref.root, summary, { best: best.rows, worst: worst.rows, failures: snapshot.failures });
    if (isActive(summary)) recent.set(ref.id, { at: Date.now(), nodes });
    else recent.delete(ref.id);
    return nodes;
  };

  const load = async (parent: Node | undefined): Promise<Node[]> => {
    try {
      return parent ? (parent.run ? await childNodes(parent.run) : []) : await topNodes();
    } catch (error) {
      log.warn(`runs: ${String(error)}`);
      return [failureNode(reason(error), parent)];
    }
  };

  const tree = new Tree({ id: Views.runs, load, selectMany: true, tickMs: 60_000 });
  const showBadge = () => {
    const running = runs.known().reduce((sum, { summary }) => sum + (isActive(summary) ? summary.running : 0), 0);
    tree.view.badge = running > 0 ? { value: running, tooltip: l10n.t('{0} episodes running', running) } : undefined;
  };
  tree.also(
    runs.onDidChangeList(() => {
      tree.refresh();
      showBadge();
    }),
  );
  tree.also(
    runs.onDidChangeRun(({ root, summary }) => {
      tree.update(runNode(root, summary, Date.now()));
      showBadge();
    }),
  );
  return {
    tree,
    loadMore: () => {
      shown += PAGE;
      tree.refresh();
    },
  };
}
