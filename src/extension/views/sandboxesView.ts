import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { isCancellation, reason } from '../failure.js';
import { Contexts, InternalCommands, Views } from '../ids.js';
import { Listings } from '../sandbox/listings.js';
import { UploadByDrop } from '../sandbox/uploadByDrop.js';
import { sandboxKey } from '../sandboxes.js';
import type { Services } from '../services.js';
import type { FileRef, Node } from './node.js';
import { failureNode } from './problemNodes.js';
import { fileNodeId, fileNodes, sandboxChildren, sandboxNode, sandboxNodeId } from './sandboxNodes.js';
import { Tree } from './tree.js';

const PAGE = 200;

export interface SandboxesView {
  readonly tree: Tree;
  /** Shows another page. */
  readonly loadMore: () => void;
  /** Brings the files of a sandbox to sight. */
  readonly revealFiles: (sandbox: { readonly provider: string; readonly id: string }) => Promise<void>;
}

/** Every live sandbox of this machine's providers: a person's own first, then the oldest. Measured while the view is visible. */
export function createSandboxesView(services: Services): SandboxesView {
  const { sandboxes, terminals, files } = services;
  let shown = PAGE;
  let failure: unknown;

  const topNodes = (): Node[] => {
    const list = sandboxes.known();
    const nodes = list.slice(0, shown).map(sandboxNode);
    const hidden = list.length - nodes.length;
    const more = l10n.t('Load more… ({0} hidden)', hidden);
    const paged = hidden > 0 ? [...nodes, { id: 'more-sandboxes', label: more, spoken: more, icon: { id: 'ellipsis' }, command: { id: InternalCommands.loadMoreSandboxes, title: more, arguments: [] } }] : nodes;
    return failure === undefined ? paged : [failureNode(reason(failure)), ...paged];
  };
  const childNodes = (parent: NonNullable<Node['sandbox']>): Node[] => {
    const known = sandboxes.get(parent);
    return known ? sandboxChildren(known, terminals.of(parent)) : [];
  };

  let first = true;
  const load = async (parent: Node | undefined): Promise<Node[]> => {
    try {
      if (parent?.sandbox) return childNodes(parent.sandbox);
      if (parent?.file) return fileNodes(parent.file, await listings.list(parent.file));
      if (parent) return [];
      if (first) {
        first = false;
        await sandboxes.list();
      }
      return topNodes();
    } catch (error) {
      if (isCancellation(error)) return [];
      return parent ? [unreadable(parent, error)] : [failureNode(reason(error))];
    }
  };

  const tree: Tree = new Tree({ id: Views.sandboxes, load, dragAndDrop: new UploadByDrop(services) });
  const listings = new Listings(services.runner, (folder) => tree.refresh(fileNodeId(folder)));
  let told = { count: 0, live: false };
  const redraw = () => {
    const known = sandboxes.known();
    tree.show(undefined, topNodes());
    for (const { root, sandbox } of known) tree.show(sandboxNodeId(sandbox), childNodes({ root, id: sandbox.id, provider: sandbox.provider }));
    const now = { count: known.length, live: known.some(({ sandbox }) => sandbox.attached) };
    if (now.count !== told.count) tree.view.description = now.count > 0 ? String(now.count) : undefined;
    if (now.live !== told.live) void vscode.commands.executeCommand('setContext', Contexts.live, now.live);
    told = now;
  };
  tree.also(
    sandboxes.onDidChange((known) => {
      failure = undefined;
      const live = new Set(known.map(({ sandbox }) => sandboxKey(sandbox)));
      listings.keep((key) => live.has(key));
      redraw();
    }),
  );
  tree.also(
    sandboxes.onDidFail((error) => {
      failure = error;
      tree.show(undefined, topNodes());
    }),
  );
  tree.also(terminals.onDidChange(redraw));
  tree.also(
    files.onDidTouch((folder: FileRef) => {
      listings.forget(folder);
      tree.refresh(fileNodeId(folder));
    }),
  );
  const watch = () => sandboxes.watch(tree.view.visible);
  tree.also(tree.view.onDidChangeVisibility(watch));
  watch();
  return {
    tree,
    loadMore: () => {
      shown += PAGE;
      tree.refresh();
    },
    revealFiles: async (sandbox) => {
      await vscode.commands.executeCommand(`${Views.sandboxes}.focus`);
      const id = sandboxNodeId(sandbox);
      await tree.reveal(`${id}:files`, id);
    },
  };
}

function unreadable(parent: Node, error: unknown): Node {
  const label = reason(error);
  return { id: `${parent.id}:problem`, label, spoken: label, icon: { id: 'error', color: 'list.errorForeground' } };
}
