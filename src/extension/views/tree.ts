/** A view of nodes: stable items, the smallest refresh, several refreshes as one, and none while nobody looks. */
import * as vscode from 'vscode';
import { Disposing, type Disposable } from '../dispose.js';
import type { ViewId } from '../ids.js';
import type { Node } from './node.js';

/** What VS Code holds on to: the same object for the same id, whatever its node says now. */
export interface Handle {
  readonly id: string;
  node: Node;
}

export interface TreeOptions {
  readonly id: ViewId;
  /** Children of a node, or the top ones. Never rejects: failures are nodes too. */
  readonly load: (parent: Node | undefined) => Promise<readonly Node[]>;
  /** A person looks at the view (again). */
  readonly onShown?: () => void;
  /** Redraws everything this often while the view is visible, for texts such as "2 min ago"; milliseconds. */
  readonly tickMs?: number;
}

const COALESCE_MS = 100;
const ROOT = '';

export class Tree extends Disposing implements vscode.TreeDataProvider<Handle> {
  readonly view: vscode.TreeView<Handle>;
  private readonly changed = this.own(new vscode.EventEmitter<Handle | Handle[] | undefined>());
  readonly onDidChangeTreeData = this.changed.event;
  private readonly handles = new Map<string, Handle>();
  private readonly childIds = new Map<string, readonly string[]>();
  private readonly pending = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private ticker: NodeJS.Timeout | undefined;

  constructor(private readonly options: TreeOptions) {
    super();
    this.view = this.own(vscode.window.createTreeView(options.id, { treeDataProvider: this, showCollapseAll: false }));
    this.own(this.view.onDidChangeVisibility(({ visible }) => this.visibilityChanged(visible)));
    this.own({ dispose: () => (clearTimeout(this.timer), clearInterval(this.ticker)) });
    this.visibilityChanged(this.view.visible);
  }

  /** Ends with the tree. */
  also(thing: Disposable): void {
    this.own(thing);
  }

  /** Loads again: all of it, or the children of one node. */
  refresh(id: string = ROOT): void {
    this.pending.add(id);
    if (this.view.visible) this.timer ??= setTimeout(() => this.flush(), COALESCE_MS);
  }

  /** Shows what a node says now, without loading anything else. A node that is not on screen is left alone. */
  update(node: Node): void {
    const handle = this.handles.get(node.id);
    if (!handle) return;
    handle.node = node;
    this.refresh(node.id);
  }

  getTreeItem({ node }: Handle): vscode.TreeItem {
    const state = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(node.label, node.children === 'expanded' ? state.Expanded : node.children === 'collapsed' ? state.Collapsed : state.None);
    item.id = node.id;
    item.description = node.description;
    item.accessibilityInformation = { label: node.spoken };
    if (node.item) item.contextValue = node.item;
    if (node.icon) item.iconPath = new vscode.ThemeIcon(node.icon.id, node.icon.color ? new vscode.ThemeColor(node.icon.color) : undefined);
    if (node.command) item.command = { command: node.command.id, title: node.command.title, arguments: [...node.command.arguments] };
    return item;
  }

  resolveTreeItem(item: vscode.TreeItem, { node }: Handle): vscode.TreeItem {
    item.tooltip = node.tooltip?.();
    return item;
  }

  async getChildren(parent?: Handle): Promise<Handle[]> {
    const nodes = await this.options.load(parent?.node);
    const previous = this.childIds.get(parent?.id ?? ROOT) ?? [];
    const ids = new Set(nodes.map(({ id }) => id));
    for (const id of previous) if (!ids.has(id)) this.forget(id);
    this.childIds.set(parent?.id ?? ROOT, [...ids]);
    return nodes.map((node) => this.intern(node));
  }

  private intern(node: Node): Handle {
    const known = this.handles.get(node.id);
    if (known) {
      known.node = node;
      return known;
    }
    const handle = { id: node.id, node };
    this.handles.set(node.id, handle);
    return handle;
  }

  private forget(id: string): void {
    for (const child of this.childIds.get(id) ?? []) this.forget(child);
    this.childIds.delete(id);
    this.handles.delete(id);
  }

  private flush(): void {
    this.timer = undefined;
    const ids = [...this.pending];
    this.pending.clear();
    if (ids.includes(ROOT)) return this.changed.fire(undefined);
    const handles = ids.map((id) => this.handles.get(id)).filter((handle) => handle !== undefined);
    if (handles.length > 0) this.changed.fire(handles);
  }

  private visibilityChanged(visible: boolean): void {
    clearInterval(this.ticker);
    this.ticker = undefined;
    if (!visible) return;
    this.options.onShown?.();
    if (this.options.tickMs) this.ticker = setInterval(() => this.refresh(), this.options.tickMs);
    if (this.pending.size > 0) this.flush();
  }
}
