/** The open trace views: editors of trace files, and one panel for each episode that was asked for, found again after a reload of the window. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { TraceRef, TraceViewCommand, TraceViewTarget } from '../../protocol/traceView.js';
import { Layout } from '../../store/layout.js';
import { Disposing } from '../dispose.js';
import { TraceEditorType, TraceOptionEditorType, TraceViewType } from '../ids.js';
import { roots } from '../roots.js';
import { isInside, restoredTrace } from '../traceLink.js';
import type { EpisodeRef } from '../views/node.js';
import { type TraceDependencies, TraceViewPanel } from './traceViewPanel.js';

interface TraceDocument extends vscode.CustomDocument {
  readonly uri: vscode.Uri;
}

export class TraceViews extends Disposing implements vscode.CustomReadonlyEditorProvider<TraceDocument>, vscode.WebviewPanelSerializer {
  private readonly views = new Set<TraceViewPanel>();
  /** Panels of episodes, by the file of the trace. */
  private readonly panels = new Map<string, TraceViewPanel>();
  /** What the editor that opens next on a file is to show. */
  private readonly targets = new Map<string, TraceViewTarget>();

  constructor(private readonly deps: TraceDependencies) {
    super();
    for (const type of [TraceEditorType, TraceOptionEditorType]) this.own(vscode.window.registerCustomEditorProvider(type, this, { supportsMultipleEditorsPerDocument: true }));
    this.own(vscode.window.registerWebviewPanelSerializer(TraceViewType, this));
    this.own({ dispose: () => this.panels.forEach(({ panel }) => void panel.dispose()) });
  }

  /** Shows the trace of an episode, which may still be running. */
  openEpisode({ root, id, episode }: EpisodeRef, title: string, target?: TraceViewTarget): void {
    const file = traceFile({ root, id, episode });
    const existing = this.panels.get(file);
    if (existing) existing.panel.reveal(undefined, target?.aside);
    const view = existing ?? this.adoptPanel(vscode.window.createWebviewPanel(TraceViewType, title, { viewColumn: vscode.ViewColumn.Active, preserveFocus: target?.aside ?? false }), { file });
    if (target) view.show(target);
  }

  /** Shows a trace file, whatever other editor there is for it. */
  async openFile(trace: TraceRef, target: TraceViewTarget = {}): Promise<void> {
    const uri = vscode.Uri.file(trace.file);
    const open = [...this.views].find(({ panel, file }) => panel.visible && file === uri.fsPath);
    if (open) {
      open.panel.reveal();
      open.show(target);
      return;
    }
    this.targets.set(uri.fsPath, target);
    try {
      await vscode.commands.executeCommand('vscode.openWith', uri, TraceEditorType);
    } finally {
      this.targets.delete(uri.fsPath);
    }
  }

  /** File of the trace in front. */
  get activeFile(): string | undefined {
    return [...this.views].find(({ panel }) => panel.active)?.file;
  }

  /** Gives a command to the view in front. False if there is none. */
  command(command: TraceViewCommand): boolean {
    const view = [...this.views].find(({ panel }) => panel.active);
    view?.command(command);
    return view !== undefined;
  }

  openCustomDocument(uri: vscode.Uri): TraceDocument {
    return { uri, dispose: () => undefined };
  }

  resolveCustomEditor({ uri }: TraceDocument, panel: vscode.WebviewPanel): void {
    const view = this.adopt(panel, { file: uri.fsPath });
    const target = this.targets.get(uri.fsPath);
    if (target) view.show(target);
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const trace = restoredTrace(state);
    // A page may have kept anything: only traces of the folders that are open are read.
    if (trace && !this.panels.has(trace.file) && (await inWorkspace(trace.file))) this.adoptPanel(panel, trace);
    else panel.dispose();
  }

  private adoptPanel(panel: vscode.WebviewPanel, trace: TraceRef): TraceViewPanel {
    const view = this.adopt(panel, trace);
    this.panels.set(trace.file, view);
    panel.onDidDispose(() => this.panels.delete(trace.file));
    const icon = (theme: string) => vscode.Uri.joinPath(this.deps.extensionUri, 'media', `run-${theme}.svg`);
    panel.iconPath = { light: icon('light'), dark: icon('dark') };
    return view;
  }

  private adopt(panel: vscode.WebviewPanel, trace: TraceRef): TraceViewPanel {
    const view = new TraceViewPanel(panel, trace, this.deps);
    this.views.add(view);
    panel.onDidDispose(() => {
      this.views.delete(view);
      // Whoever closes it begins anew the next time; a window that goes closes nothing.
      if (!this.isDisposed) void this.deps.places.forget(trace.file);
      void view.close();
    });
    return view;
  }
}

export const traceFile = ({ root, id, episode }: EpisodeRef): string => join(new Layout(root).episode(id, episode), 'trace.jsonl');

/** Whether a file really lies in a folder of the workspace, links followed. */
export async function inWorkspace(file: string): Promise<boolean> {
  try {
    const real = await realpath(file);
    const folders = await Promise.all(roots().map(({ path }) => realpath(path)));
    return folders.some((folder) => isInside(folder, real));
  } catch {
    return false;
  }
}
