/** What the tests in a real VS Code share: the extension, its trees, and waits for events with a deadline. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { TestApi } from '../../src/extension/activate.js';
import type { Handle, Tree } from '../../src/extension/views/tree.js';
import type { Node } from '../../src/extension/views/node.js';

const ID = 'rl-sandboxes.rl-sandboxes';
export const PATIENCE_MS = 60_000;

export async function activated(): Promise<TestApi> {
  const extension = vscode.extensions.getExtension<TestApi>(ID);
  assert.ok(extension, `${ID} is installed`);
  const api = await extension.activate();
  assert.ok(api, 'a test run gets the trees');
  return api;
}

export const workspaceFolder = (): vscode.Uri => vscode.workspace.workspaceFolders![0]!.uri;
export const inWorkspace = (name: string): vscode.Uri => vscode.Uri.joinPath(workspaceFolder(), name);

/** Opens the sidebar's container, so that the views are visible. */
export async function showSidebar(): Promise<void> {
  await vscode.commands.executeCommand('workbench.view.extension.rlSandboxes');
}

type Subscribe = (listener: () => unknown) => vscode.Disposable;

/** Resolves with what `look` finds, which is asked now and after each of the events. Rejects after a minute with what was seen last. */
export function until<T>(what: string, events: readonly Subscribe[], look: () => T | undefined | Promise<T | undefined>, describe: () => unknown = () => ''): Promise<T> {
  return new Promise((resolve, reject) => {
    const subscriptions: vscode.Disposable[] = [];
    const settle = (end: () => void) => {
      clearTimeout(timer);
      for (const subscription of subscriptions.splice(0)) subscription.dispose();
      end();
    };
    const timer = setTimeout(() => settle(() => reject(new Error(`${what} did not come about within ${PATIENCE_MS / 1000} s. ${JSON.stringify(describe())}`))), PATIENCE_MS);
    const ask = () => {
      Promise.resolve()
        .then(look)
        .then(
          (found) => found !== undefined && settle(() => resolve(found)),
          (error: unknown) => settle(() => reject(error)),
        );
    };
    for (const subscribe of events) subscriptions.push(subscribe(ask));
    ask();
  });
}

export const nodesOf = async (tree: Tree, parent?: Handle): Promise<Node[]> => (await tree.getChildren(parent)).map(({ node }) => node);

/** A top item of a tree, once there is one that fits. */
export function itemOf(tree: Tree, fits: (node: Node) => boolean, what: string): Promise<Handle> {
  let seen: string[] = [];
  return until(
    what,
    [tree.onDidChangeTreeData],
    async () => {
      const handles = await tree.getChildren();
      seen = handles.map(({ node }) => `${node.label}: ${node.description ?? ''}`);
      return handles.find(({ node }) => fits(node));
    },
    () => seen,
  );
}

/** Writes a file of the workspace. */
export const write = (uri: vscode.Uri, text: string): Thenable<void> => vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
