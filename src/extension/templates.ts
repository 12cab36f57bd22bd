/** The templates of the workspace and what the engine says of each; asked for again only when something may have changed it. */
import * as vscode from 'vscode';
import type { TemplateStatus } from '../runner/api.js';
import { Disposing } from './dispose.js';
import { reason } from './failure.js';
import { TEMPLATE_EXCLUDE, TEMPLATE_GLOB } from './ids.js';
import { roots } from './roots.js';
import type { Runner } from './runner.js';
import { defaultProvider } from './settings.js';
import type { TemplateRef } from './views/node.js';

export interface KnownTemplate {
  readonly ref: TemplateRef;
  status?: TemplateStatus;
  failure?: string;
  /** Something that it depends on may have changed since it was asked for. */
  dirty: boolean;
}

/** More than this many files are a mistake, such as a data set of templates; the list says where it ends. */
const MOST_TEMPLATES = 2000;
/** A status reads and digests files: a few at a time. */
const AT_ONCE = 3;

export class Templates extends Disposing {
  private readonly byFile = new Map<string, KnownTemplate>();
  private found: Promise<void> | undefined;
  private readonly queue = new Set<KnownTemplate>();
  private asking = 0;
  private readonly changedList = this.own(new vscode.EventEmitter<void>());
  private readonly changedOne = this.own(new vscode.EventEmitter<KnownTemplate>());
  readonly onDidChangeList = this.changedList.event;
  readonly onDidChange = this.changedOne.event;
  /** Something may have changed; whoever looks at the templates asks again. */
  private readonly gotDirty = this.own(new vscode.EventEmitter<void>());
  readonly onDidGetDirty = this.gotDirty.event;

  constructor(private readonly runner: Runner) {
    super();
    const watcher = this.own(vscode.workspace.createFileSystemWatcher(TEMPLATE_GLOB));
    this.own(watcher.onDidCreate(() => this.forget()));
    this.own(watcher.onDidDelete(() => this.forget()));
    this.own(watcher.onDidChange(({ fsPath }) => this.invalidate((ref) => ref.file === fsPath)));
    this.own(vscode.workspace.onDidChangeWorkspaceFolders(() => this.forget()));
    // A template copies files in: any of them makes a snapshot stale.
    this.own(vscode.workspace.onDidSaveTextDocument(({ uri }) => this.invalidate(({ root }) => vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath === root)));
    this.own(runner.on('changed', ({ root, kind }) => kind === 'snapshots' && this.invalidate((ref) => ref.root === root)));
    this.own(runner.onStarted(() => this.invalidate(({ file }) => this.byFile.get(file)?.failure !== undefined)));
  }

  /** Every template, by path; statuses arrive later as `onDidChange`. */
  async list(): Promise<KnownTemplate[]> {
    await (this.found ??= this.find());
    return [...this.byFile.values()].sort((a, b) => (a.ref.file < b.ref.file ? -1 : 1));
  }

  /** Asks for the status of every template that may be out of date. */
  ask(): void {
    for (const template of this.byFile.values()) if (template.dirty) this.queue.add(template);
    while (this.asking < AT_ONCE && this.queue.size > 0) void this.askNext();
  }

  get(file: string): KnownTemplate | undefined {
    return this.byFile.get(file);
  }

  /** Looks for files and asks for everything again. */
  forget(): void {
    this.found = undefined;
    for (const template of this.byFile.values()) template.dirty = true;
    this.changedList.fire();
  }

  private invalidate(which: (ref: TemplateRef) => boolean): void {
    let any = false;
    for (const template of this.byFile.values()) {
      if (!which(template.ref)) continue;
      template.dirty = true;
      any = true;
    }
    if (any) this.gotDirty.fire();
  }

  private async find(): Promise<void> {
    const open = new Set(roots().map(({ path }) => path));
    const uris = await vscode.workspace.findFiles(TEMPLATE_GLOB, TEMPLATE_EXCLUDE, MOST_TEMPLATES);
    const files = new Map<string, string>();
    for (const uri of uris) {
      const root = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
      if (root !== undefined && open.has(root)) files.set(uri.fsPath, root);
    }
    for (const file of this.byFile.keys()) if (!files.has(file)) this.byFile.delete(file);
    for (const [file, root] of files) if (!this.byFile.has(file)) this.byFile.set(file, { ref: { root, file }, dirty: true });
  }

  private async askNext(): Promise<void> {
    const [template] = this.queue;
    if (!template) return;
    this.queue.delete(template);
    template.dirty = false;
    this.asking += 1;
    try {
      const { root, file } = template.ref;
      template.status = await this.runner.request('template/status', { root, file, provider: defaultProvider(file) });
      template.failure = undefined;
    } catch (error) {
      template.status = undefined;
      template.failure = reason(error);
    } finally {
      this.asking -= 1;
    }
    if (this.isDisposed) return;
    if (this.byFile.get(template.ref.file) === template) this.changedOne.fire(template);
    if (this.queue.size > 0) void this.askNext();
  }
}
