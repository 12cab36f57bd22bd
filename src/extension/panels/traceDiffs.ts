/** Panels that compare two traces: one for each pair, found again after a reload of the window. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Side, TraceDiffRequests, TracePair } from '../../protocol/traceDiff.js';
import { Disposing } from '../dispose.js';
import { oneLine } from '../format.js';
import { TraceDiffViewType } from '../ids.js';
import { restoredTraces } from '../traceLink.js';
import { browse } from './browse.js';
import { traceDiffPage } from './html.js';
import type { Message } from './parse.js';
import type { PanelDependencies } from './runViewPanel.js';
import { parseTraceDiffMessage } from './traceDiffMessages.js';
import { inWorkspace, type TraceViews } from './traceViews.js';
import { WebviewPage } from './webviewPage.js';

export interface TraceDiffDependencies extends PanelDependencies {
  readonly traceViews: () => TraceViews;
}

const key = ({ a, b }: TracePair): string => JSON.stringify([a.file, a.member, b.file, b.member]);

export class TraceDiffs extends Disposing implements vscode.WebviewPanelSerializer {
  private readonly panels = new Map<string, vscode.WebviewPanel>();

  constructor(private readonly deps: TraceDiffDependencies) {
    super();
    this.own(vscode.window.registerWebviewPanelSerializer(TraceDiffViewType, this));
    this.own({ dispose: () => this.panels.forEach((panel) => void panel.dispose()) });
  }

  open(pair: TracePair): void {
    const existing = this.panels.get(key(pair));
    if (existing) return existing.reveal();
    this.adopt(vscode.window.createWebviewPanel(TraceDiffViewType, l10n.t('Compare Traces'), vscode.ViewColumn.Active), pair);
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const pair = restoredTraces(state);
    // A page may have kept anything: only traces of the folders that are open are read.
    if (pair && !this.panels.has(key(pair)) && (await inWorkspace(pair.a.file)) && (await inWorkspace(pair.b.file))) this.adopt(panel, pair);
    else panel.dispose();
  }

  private adopt(panel: vscode.WebviewPanel, pair: TracePair): void {
    const view = new TraceDiff(panel, pair, this.deps);
    this.panels.set(key(pair), panel);
    panel.onDidDispose(() => {
      this.panels.delete(key(pair));
      view.dispose();
    });
  }
}

class TraceDiff extends Disposing {
  constructor(
    private readonly panel: vscode.WebviewPanel,
    private readonly pair: TracePair,
    private readonly deps: TraceDiffDependencies,
  ) {
    super();
    const { extensionUri, log } = deps;
    const page = this.own(
      new WebviewPage<TraceDiffRequests, Record<string, never>>(panel, {
        extensionUri,
        log,
        name: 'trace comparison',
        parse: parseTraceDiffMessage,
        answer: (message) => this.answer(message),
        html: (parts) => traceDiffPage({ ...parts, traces: JSON.stringify(pair) }),
      }),
    );
    const icon = (theme: string) => vscode.Uri.joinPath(extensionUri, 'media', `run-${theme}.svg`);
    panel.iconPath = { light: icon('light'), dark: icon('dark') };
    this.own({ dispose: () => [pair.a, pair.b].forEach((trace) => void deps.runner.request('trace/close', { trace }).catch(() => undefined)) });
    page.load();
  }

  private async answer({ method, params }: Message<TraceDiffRequests>): Promise<unknown> {
    const { runner, documents, traceViews } = this.deps;
    const { a, b } = this.pair;
    const traceOf = (side: Side) => this.pair[side];
    switch (method) {
      case 'comparison': {
        const comparison = await runner.request('trace/compare', { a, b });
        const { heads } = comparison;
        this.panel.title = oneLine(heads.a.title === heads.b.title ? heads.a.title : `${heads.a.title} ↔ ${heads.b.title}`, 60);
        return comparison;
      }
      case 'rows':
        return runner.request('trace/comparedRows', { a, b, ...params });
      case 'nextDifference':
        return runner.request('trace/nextDifference', { a, b, query: params });
      case 'step':
        return runner.request('trace/step', { trace: traceOf(params.side), step: params.step });
      case 'blob':
        return Uint8Array.from(Buffer.from(await runner.request('trace/blob', { trace: traceOf(params.side), ref: params.ref }), 'base64'));
      case 'open':
        await documents.openStep(traceOf(params.side), params.step, params.place);
        return null;
      case 'openDiff':
        await documents.diffSteps({ trace: a, step: params.a }, { trace: b, step: params.b }, l10n.t('Step {0} ↔ step {1}', params.a, params.b));
        return null;
      case 'openTrace':
        await traceViews().openFile(traceOf(params.side), { step: params.step });
        return null;
      case 'browse':
        await browse(params.url);
        return null;
    }
  }
}
