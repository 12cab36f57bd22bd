import * as l10n from '@vscode/l10n';
import { reason } from '../failure.js';
import { Views } from '../ids.js';
import type { Services } from '../services.js';
import type { Node } from './node.js';
import { failureNode } from './problemNodes.js';
import { sandboxNode } from './sandboxNodes.js';
import { Tree } from './tree.js';

/** More than these are a number, not a list to read. */
const MOST_SHOWN = 200;

/** Every live sandbox of this machine's providers, oldest first. */
export function createSandboxesView({ sandboxes, runner }: Services): Tree {
  const load = async (parent: Node | undefined): Promise<Node[]> => {
    if (parent) return [];
    try {
      const list = await sandboxes.list();
      const now = Date.now();
      const nodes = list.slice(0, MOST_SHOWN).map(({ root, sandbox }) => sandboxNode(root, sandbox, now));
      const hidden = list.length - nodes.length;
      const label = l10n.t('{0} more', hidden);
      return hidden > 0 ? [...nodes, { id: 'more-sandboxes', label, spoken: label, icon: { id: 'ellipsis' } }] : nodes;
    } catch (error) {
      return [failureNode(reason(error))];
    }
  };
  const tree = new Tree({ id: Views.sandboxes, load, tickMs: 30_000 });
  tree.also(sandboxes.onDidChange(() => tree.refresh()));
  tree.also(runner.onStarted(() => tree.refresh()));
  return tree;
}
