/**
 * What a view holds: the same object for the same id, the smallest refresh, several refreshes as one, and none while nobody looks.
 * Knows nothing of VS Code.
 */
import type { Node } from './node.js';

/** What VS Code holds on to: the same object for the same id, whatever its node says now. */
export interface Handle {
  readonly id: string;
  node: Node;
}

export interface TreeModelOptions {
  /** Children of a node, or the top ones. Never rejects: failures are nodes too. */
  readonly load: (parent: Node | undefined) => Promise<readonly Node[]>;
  /** These are out of date on screen; undefined: all of it. */
  readonly changed: (handles: Handle[] | undefined) => void;
  readonly isVisible: () => boolean;
}

export const COALESCE_MS = 100;
const ROOT = '';

export class TreeModel {
  private readonly handles = new Map<string, Handle>();
  private readonly childIds = new Map<string, readonly string[]>();
  private readonly parents = new Map<string, string>();
  private readonly pending = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: TreeModelOptions) {}

  /** Loads again: all of it, or the children of one node. */
  refresh(id: string = ROOT): void {
    this.pending.add(id);
    if (this.options.isVisible()) this.timer ??= setTimeout(() => this.flush(), COALESCE_MS);
  }

  /** Shows what a node says now, without loading anything else. A node that is not on screen, or says the same, is left alone. */
  update(node: Node): void {
    const handle = this.handles.get(node.id);
    if (!handle) return;
    const same = saysTheSame(handle.node, node);
    handle.node = node;
    if (!same) this.refresh(node.id);
  }

  /** Shows the children of a node, or with undefined the top ones, as they are now: one by one where they are the same as before. */
  show(parent: string | undefined, nodes: readonly Node[]): void {
    const known = this.childIds.get(parent ?? ROOT);
    if (!known) return;
    if (known.length === nodes.length && nodes.every(({ id }, index) => id === known[index])) for (const node of nodes) this.update(node);
    else this.refresh(parent);
  }

  async children(parent?: Handle): Promise<Handle[]> {
    const nodes = await this.options.load(parent?.node);
    const key = parent?.id ?? ROOT;
    const previous = this.childIds.get(key) ?? [];
    const ids = new Set(nodes.map(({ id }) => id));
    for (const id of previous) if (!ids.has(id)) this.forget(id);
    this.childIds.set(key, [...ids]);
    for (const id of ids) this.parents.set(id, key);
    return nodes.map((node) => this.intern(node));
  }

  parentOf({ id }: Handle): Handle | undefined {
    return this.handles.get(this.parents.get(id) ?? ROOT);
  }

  get(id: string): Handle | undefined {
    return this.handles.get(id);
  }

  /** Shows what was put off, once somebody looks again. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.pending.size === 0) return;
    const ids = [...this.pending];
    this.pending.clear();
    if (ids.includes(ROOT)) return void this.reloadTop(ids);
    const handles = ids.map((id) => this.handles.get(id)).filter((handle) => handle !== undefined);
    if (handles.length > 0) this.options.changed(handles);
  }

  /**
   * One by one where the top nodes are the same as before, with what is known beneath them: while VS Code loads all of a view again, what is clicked in
   * it has no item. `asked`: what is out of date besides.
   */
  private async reloadTop(asked: readonly string[]): Promise<void> {
    const nodes = this.childIds.has(ROOT) ? await this.options.load(undefined) : [];
    const known = this.childIds.get(ROOT);
    if (known?.length !== nodes.length || nodes.some(({ id }, index) => id !== known[index])) return this.options.changed(undefined);
    const stale = new Set(asked);
    for (const node of nodes) {
      const handle = this.handles.get(node.id)!;
      if (!saysTheSame(handle.node, node) || this.childIds.has(node.id)) stale.add(node.id);
      handle.node = node;
    }
    const handles = [...stale].flatMap((id) => this.handles.get(id) ?? []);
    if (handles.length > 0) this.options.changed(handles);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
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
    this.parents.delete(id);
    this.handles.delete(id);
  }
}

/** The tooltip is computed when it is asked for, from the node as it is then. */
const saysTheSame = (one: Node, other: Node): boolean => JSON.stringify(one) === JSON.stringify(other);
