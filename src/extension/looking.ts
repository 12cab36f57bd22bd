/** Tells the engine which folders this window shows, and whether a person can see anything of them now. */
import * as vscode from 'vscode';
import { Disposing } from './dispose.js';
import type { RunViews } from './panels/runViews.js';
import { roots } from './roots.js';
import type { Runner } from './runner.js';
import type { Tree } from './views/tree.js';

export class Looking extends Disposing {
  private told = '';

  constructor(
    private readonly runner: Runner,
    private readonly trees: readonly Tree[],
    private readonly runViews: RunViews,
  ) {
    super();
    for (const { view } of trees) this.own(view.onDidChangeVisibility(() => this.tell()));
    this.own(runViews.onDidChangeVisibility(() => this.tell()));
    this.own(vscode.workspace.onDidChangeWorkspaceFolders(() => this.tell()));
    this.tell();
  }

  private tell(): void {
    const visible = this.trees.some(({ view }) => view.visible) || this.runViews.anyVisible;
    const looked = roots().map(({ path }) => ({ root: path, visible }));
    const key = JSON.stringify(looked);
    if (key === this.told) return;
    this.told = key;
    this.runner.look(looked);
  }
}
