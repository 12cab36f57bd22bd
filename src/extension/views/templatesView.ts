import type { Services } from '../services.js';
import { roots } from '../roots.js';
import { reason } from '../failure.js';
import { Views } from '../ids.js';
import type { KnownTemplate } from '../templates.js';
import type { Node } from './node.js';
import { failureNode, providerProblems } from './problemNodes.js';
import { snapshotNodes, templateNode, type TemplateView } from './templateNodes.js';
import { Tree } from './tree.js';

/** Templates with their snapshots beneath; what keeps everything from running stands above them. */
export function createTemplatesView({ templates, runs, setup }: Services): Tree {
  const describe = (known: KnownTemplate): TemplateView => {
    const { ref, status, failure } = known;
    const lastRun = runs.known().find(({ root, summary }) => root === ref.root && summary.run.file === ref.file && summary.run.state === 'done');
    const folder = roots().length > 1 ? roots().find(({ path }) => path === ref.root)?.name : undefined;
    return { ref, status, failure, lastRun: lastRun?.summary, folder };
  };

  const load = async (parent: Node | undefined): Promise<Node[]> => {
    const now = Date.now();
    if (parent) {
      const known = parent.template && templates.get(parent.template.file);
      return known ? snapshotNodes(describe(known), now) : [];
    }
    try {
      const list = await templates.list();
      templates.ask();
      // For the last mean of each; it arrives as a change of the list.
      void runs.list().catch(() => undefined);
      if (list.length > 0) setup.ensure();
      const problems = setup.known && list.length > 0 ? providerProblems(setup.known) : [];
      return [...problems, ...list.map((known) => templateNode(describe(known), now))];
    } catch (error) {
      return [failureNode(reason(error))];
    }
  };

  const tree = new Tree({ id: Views.templates, load, onShown: () => templates.ask(), tickMs: 60_000 });
  const redraw = (known: KnownTemplate) => tree.update(templateNode(describe(known), Date.now()));
  tree.also(templates.onDidChangeList(() => tree.refresh()));
  tree.also(templates.onDidChange(redraw));
  tree.also(templates.onDidGetDirty(() => tree.view.visible && templates.ask()));
  tree.also(runs.onDidChangeList(() => tree.refresh()));
  tree.also(setup.onDidChange(() => tree.refresh()));
  return tree;
}
