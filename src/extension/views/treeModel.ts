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
/** In place of an id: there are other top nodes. */
const ROOT_CHANGED = '*';

export class TreeModel {
  private readonly handles = new Map<string, Handle>();
  private readonly childIds = new Map<string, readonly string[]>();
  private readonly parents = new Map<string, string>();
  private readonly pending = new Set<string>();
  /** Loads that go on, by parent. VS Code keeps what they find, also where it was asked to refresh meanwhile. */
  private readonly loading = new Map<string, { overtaken: boolean }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: TreeModelOptions) {}

  /** Loads again: all of it, or the children of one node. */
  refresh(id: string = ROOT): void {
    for (const [key, load] of this.loading) load.overtaken ||= id === ROOT || id === key;
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
    const key = parent ?? ROOT;
    const known = this.childIds.get(key);
    const load = this.loading.get(key);
    if (load) load.overtaken = true;
    if (!known) return;
    if (known.length === nodes.length && nodes.every(({ id }, index) => id === known[index])) for (const node of nodes) this.update(node);
    else this.refresh(parent);
  }

  async children(parent?: Handle): Promise<Handle[]> {
    const key = parent?.id ?? ROOT;
    const load = { overtaken: false };
    this.loading.set(key, load);
    const nodes = await this.options.load(parent?.node);
    if (this.loading.get(key) === load) this.loading.delete(key);
    if (load.overtaken) this.refresh(key);
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
    if (ids.includes(ROOT)) return void this.reloadTop(ids.filter((id) => id !== ROOT));
    const handles = ids.map((id) => this.handles.get(id)).filter((handle) => handle !== undefined);
    if (handles.length > 0) this.options.changed(handles);
  }

  /**
   * One by one where the nodes are the same as before: while VS Code loads all of a view again, or all beneath an item, what is clicked there has no
   * item. `asked`: what is out of date besides.
   */
  private async reloadTop(asked: readonly string[]): Promise<void> {
    const stale = new Set(asked);
    await this.compare(ROOT, stale);
    if (stale.has(ROOT_CHANGED)) return this.options.changed(undefined);
    const handles = [...stale].flatMap((id) => this.handles.get(id) ?? []);
    if (handles.length > 0) this.options.changed(handles);
  }

  /** Adds what says something else, beneath a node and further down as far as it was loaded; the node itself where others are beneath it. */
  private async compare(key: string, stale: Set<string>): Promise<void> {
    // What nobody has asked for yet is not on screen; what is on its way there is compared once it has come.
    if (stale.has(key) || !this.childIds.has(key)) return;
    const nodes = await this.options.load(this.handles.get(key)?.node);
    const known = this.childIds.get(key);
    if (known?.length !== nodes.length || nodes.some(({ id }, index) => id !== known[index])) {
      stale.add(key === ROOT ? ROOT_CHANGED : key);
      return;
    }
    for (const node of nodes) {
      const handle = this.handles.get(node.id);
      // Gone while something else was loaded.
      if (!handle) continue;
      const same = saysTheSame(handle.node, node);
      handle.node = node;
      await this.compare(node.id, stale);
      if (!same) stale.add(node.id);
    }
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
