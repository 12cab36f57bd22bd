/** A view of nodes in VS Code: `TreeModel` decides what is refreshed, this makes tree items of it. */
import * as vscode from 'vscode';
import { Disposing, type Disposable } from '../dispose.js';
import type { ViewId } from '../ids.js';
import type { Node } from './node.js';
import { TreeModel, type Handle, type TreeModelOptions } from './treeModel.js';

export type { Handle } from './treeModel.js';

export interface TreeOptions extends Pick<TreeModelOptions, 'load'> {
  readonly id: ViewId;
  /** A person looks at the view (again). */
  readonly onShown?: () => void;
  /** Redraws everything this often while the view is visible, for texts such as "2 min ago"; milliseconds. */
  readonly tickMs?: number;
  /** Several items can be selected; a command is given all of them after the one that it was called on. */
  readonly selectMany?: boolean;
  readonly dragAndDrop?: vscode.TreeDragAndDropController<Handle>;
}

export class Tree extends Disposing implements vscode.TreeDataProvider<Handle> {
  readonly view: vscode.TreeView<Handle>;
  private readonly changed = this.own(new vscode.EventEmitter<Handle | Handle[] | undefined>());
  readonly onDidChangeTreeData = this.changed.event;
  private readonly model: TreeModel;
  private ticker: NodeJS.Timeout | undefined;

  constructor(private readonly options: TreeOptions) {
    super();
    this.model = this.own(new TreeModel({ load: options.load, changed: (handles) => this.changed.fire(handles), isVisible: () => this.view.visible }));
    this.view = this.own(vscode.window.createTreeView(options.id, { treeDataProvider: this, showCollapseAll: false, canSelectMany: options.selectMany, dragAndDropController: options.dragAndDrop }));
    this.own(this.view.onDidChangeVisibility(({ visible }) => this.visibilityChanged(visible)));
    this.own({ dispose: () => clearInterval(this.ticker) });
    this.visibilityChanged(this.view.visible);
  }

  /** Ends with the tree. */
  also(thing: Disposable): void {
    this.own(thing);
  }

  refresh(id?: string): void {
    this.model.refresh(id);
  }

  update(node: Node): void {
    this.model.update(node);
  }

  show(parent: string | undefined, nodes: readonly Node[]): void {
    this.model.show(parent, nodes);
  }

  /** Brings a node to sight, beneath those with these ids, and opens it. One that is not there is left alone. */
  async reveal(id: string, ...parents: readonly string[]): Promise<void> {
    await this.getChildren();
    for (const parent of parents) {
      const handle = this.model.get(parent);
      if (handle) await this.getChildren(handle);
    }
    const handle = this.model.get(id);
    if (handle) await this.view.reveal(handle, { select: true, focus: true, expand: true });
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

  getChildren(parent?: Handle): Promise<Handle[]> {
    return this.model.children(parent);
  }

  getParent(handle: Handle): Handle | undefined {
    return this.model.parentOf(handle);
  }

  private visibilityChanged(visible: boolean): void {
    clearInterval(this.ticker);
    this.ticker = undefined;
    if (!visible) return;
    this.options.onShown?.();
    if (this.options.tickMs) this.ticker = setInterval(() => this.refresh(), this.options.tickMs);
    this.model.flush();
  }
}
