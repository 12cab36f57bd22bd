/** Panels that compare two runs of a folder: one for each pair, found again after a reload of the window. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { CompareViewNotifications, CompareViewRequests } from '../../protocol/compareView.js';
import { Disposing } from '../dispose.js';
import { oneLine } from '../format.js';
import { Commands, CompareViewType } from '../ids.js';
import { roots } from '../roots.js';
import { Throttle } from '../throttle.js';
import type { EpisodeRef, RunRef } from '../views/node.js';
import { type RunPair, parseCompareMessage, restoredPair } from './compareMessages.js';
import { compareViewPage } from './html.js';
import type { Message } from './parse.js';
import type { PanelDependencies } from './runViewPanel.js';
import { WebviewPage } from './webviewPage.js';

/** How often the page may be told that something changed, in ms: all seeds are compared each time. */
const NOTIFY_MS = 1000;

const key = ({ root, a, b }: RunPair): string => `${root}\n${a}\n${b}`;

export class CompareViews extends Disposing implements vscode.WebviewPanelSerializer {
  private readonly panels = new Map<string, vscode.WebviewPanel>();

  constructor(private readonly deps: PanelDependencies) {
    super();
    this.own(vscode.window.registerWebviewPanelSerializer(CompareViewType, this));
    this.own({ dispose: () => this.panels.forEach((panel) => void panel.dispose()) });
  }

  open(pair: RunPair): void {
    const existing = this.panels.get(key(pair));
    if (existing) return existing.reveal();
    this.adopt(vscode.window.createWebviewPanel(CompareViewType, l10n.t('Compare Runs'), vscode.ViewColumn.Active), pair);
  }

  deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const pair = restoredPair(state);
    // A page may have kept anything: only runs of the folders that are open are read.
    if (pair && roots().some(({ path }) => path === pair.root) && !this.panels.has(key(pair))) this.adopt(panel, pair);
    else panel.dispose();
    return Promise.resolve();
  }

  private adopt(panel: vscode.WebviewPanel, pair: RunPair): void {
    const view = new CompareView(panel, pair, this.deps, (other) => this.open(other));
    this.panels.set(key(pair), panel);
    panel.onDidDispose(() => {
      this.panels.delete(key(pair));
      view.dispose();
    });
  }
}

class CompareView extends Disposing {
  private readonly throttle = this.own(new Throttle(NOTIFY_MS, () => this.tell()));
  private readonly page: WebviewPage<CompareViewRequests, CompareViewNotifications>;
  /** Changed while nobody could see it. */
  private stale = false;

  constructor(
    private readonly panel: vscode.WebviewPanel,
    private readonly pair: RunPair,
    private readonly deps: PanelDependencies,
    private readonly openPair: (pair: RunPair) => void,
  ) {
    super();
    const { extensionUri, log, runner } = deps;
    this.page = this.own(
      new WebviewPage<CompareViewRequests, CompareViewNotifications>(panel, {
        extensionUri,
        log,
        name: 'comparison',
        parse: parseCompareMessage,
        answer: (message) => this.answer(message),
        html: (parts) => compareViewPage({ ...parts, runs: JSON.stringify(pair) }),
      }),
    );
    const icon = (theme: string) => vscode.Uri.joinPath(extensionUri, 'media', `run-${theme}.svg`);
    panel.iconPath = { light: icon('light'), dark: icon('dark') };
    this.own(panel.onDidChangeViewState(() => panel.visible && this.stale && this.throttle.trigger()));
    this.own(runner.on('changed', ({ root, kind, id }) => kind === 'run' && root === pair.root && (id === pair.a || id === pair.b) && this.changed()));
    this.page.load();
  }

  private changed(): void {
    this.stale = true;
    if (this.panel.visible) this.throttle.trigger();
  }

  private tell(): void {
    if (this.isDisposed || !this.panel.visible) return;
    this.stale = false;
    this.page.notify('changed', {});
  }

  private async answer({ method, params }: Message<CompareViewRequests>): Promise<unknown> {
    const { root, a, b } = this.pair;
    switch (method) {
      case 'comparison': {
        const comparison = await this.deps.runner.request('run/compare', this.pair);
        const { runs } = comparison;
        this.panel.title = oneLine(runs.a.template === runs.b.template ? `${runs.a.template} #${runs.a.number} ↔ #${runs.b.number}` : `${runs.a.template} #${runs.a.number} ↔ ${runs.b.template} #${runs.b.number}`, 60);
        return comparison;
      }
      case 'pairs':
        return this.deps.runner.request('run/pairs', { ...this.pair, query: params });
      case 'openEpisodes': {
        const episodes = [params.a === null ? undefined : { root, id: a, episode: params.a }, params.b === null ? undefined : { root, id: b, episode: params.b }].filter((episode) => episode !== undefined);
        await vscode.commands.executeCommand(episodes.length === 2 ? Commands.compareTraces : Commands.openTrace, ...(episodes satisfies EpisodeRef[]));
        return null;
      }
      case 'openRun':
        await vscode.commands.executeCommand(Commands.openRun, { root, id: params.which === 'a' ? a : b } satisfies RunRef);
        return null;
      case 'swap':
        this.openPair({ root, a: b, b: a });
        return null;
    }
  }
}
