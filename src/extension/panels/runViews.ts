/** The open run views: one for each run, found again after a reload of the window. */
import * as vscode from 'vscode';
import type { RunViewTarget } from '../../protocol/runView.js';
import { Disposing } from '../dispose.js';
import { RunViewType } from '../ids.js';
import { roots } from '../roots.js';
import type { RunRef } from '../views/node.js';
import { restoredRun } from './messages.js';
import { RunViewPanel, type PanelDependencies } from './runViewPanel.js';

const key = ({ root, id }: RunRef): string => `${root}\n${id}`;

export class RunViews extends Disposing implements vscode.WebviewPanelSerializer {
  private readonly panels = new Map<string, RunViewPanel>();
  private readonly changedVisibility = this.own(new vscode.EventEmitter<void>());
  /** A view came into sight, or went out of it. */
  readonly onDidChangeVisibility = this.changedVisibility.event;

  constructor(private readonly deps: PanelDependencies) {
    super();
    this.own(vscode.window.registerWebviewPanelSerializer(RunViewType, this));
    this.own({ dispose: () => this.panels.forEach((panel) => panel.dispose()) });
  }

  /** Shows a run, and an episode or a filter in it. `beside` keeps what is being edited, and the focus, where they are. */
  open(run: RunRef, title: string, { target, beside = false }: { readonly target?: RunViewTarget; readonly beside?: boolean } = {}): void {
    const existing = this.panels.get(key(run));
    if (existing) return existing.reveal(target, beside);
    const viewColumn = beside && vscode.window.activeTextEditor ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active;
    const panel = vscode.window.createWebviewPanel(RunViewType, title, { viewColumn, preserveFocus: beside });
    this.adopt(panel, run).show(target);
  }

  /** Whether a person can see it now. */
  isVisible(run: RunRef): boolean {
    return this.panels.get(key(run))?.panel.visible ?? false;
  }

  get anyVisible(): boolean {
    return [...this.panels.values()].some(({ panel }) => panel.visible);
  }

  /** Closes the view of a run that is gone. */
  close(run: RunRef): void {
    this.panels.get(key(run))?.panel.dispose();
  }

  deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const run = restoredRun(state);
    // A page may have kept anything: only runs of the folders that are open are read.
    if (run && roots().some(({ path }) => path === run.root) && !this.panels.has(key(run))) this.adopt(panel, run);
    else panel.dispose();
    return Promise.resolve();
  }

  private adopt(panel: vscode.WebviewPanel, run: RunRef): RunViewPanel {
    const view = new RunViewPanel(panel, run, this.deps);
    this.panels.set(key(run), view);
    this.changedVisibility.fire();
    panel.onDidChangeViewState(() => this.changedVisibility.fire());
    panel.onDidDispose(() => {
      this.panels.delete(key(run));
      view.dispose();
      this.changedVisibility.fire();
    });
    return view;
  }
}
