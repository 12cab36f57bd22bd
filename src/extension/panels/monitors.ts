/** Panels with the processor and memory of a sandbox: one for each, measured while it can be seen. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { MonitorNotifications, MonitorRequests, MonitorState } from '../../protocol/monitor.js';
import type { SandboxUsage } from '../../runner/sandboxApi.js';
import { Disposing } from '../dispose.js';
import { reason } from '../failure.js';
import { MonitorViewType } from '../ids.js';
import type { Runner } from '../runner.js';
import { sandboxKey } from '../sandboxes.js';
import type { SandboxRef } from '../views/node.js';
import { monitorPage } from './html.js';
import { isNothing, messageParser } from './parse.js';
import { WebviewPage } from './webviewPage.js';

export interface MonitorDependencies {
  readonly extensionUri: vscode.Uri;
  readonly runner: Runner;
  readonly log: vscode.LogOutputChannel;
}

const SAMPLE_MS = 1000;
/** What the page shows, in seconds. */
const SPAN_S = 300;
/** Measurements further apart than this are not joined by a line. */
const GAP_S = 5;

export class Monitors extends Disposing {
  private readonly panels = new Map<string, vscode.WebviewPanel>();

  constructor(private readonly deps: MonitorDependencies) {
    super();
    this.own({ dispose: () => this.panels.forEach((panel) => void panel.dispose()) });
  }

  open(ref: SandboxRef, name: string): void {
    const key = sandboxKey(ref);
    const known = this.panels.get(key);
    if (known) return known.reveal();
    const viewColumn = vscode.window.activeTextEditor ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active;
    const panel = vscode.window.createWebviewPanel(MonitorViewType, name, viewColumn);
    const icon = (theme: string) => vscode.Uri.joinPath(this.deps.extensionUri, 'media', `run-${theme}.svg`);
    panel.iconPath = { light: icon('light'), dark: icon('dark') };
    this.panels.set(key, panel);
    const monitor = new Monitor(panel, ref, name, this.deps);
    panel.onDidDispose(() => {
      this.panels.delete(key);
      monitor.dispose();
    });
  }
}

class Monitor extends Disposing {
  private readonly page: WebviewPage<MonitorRequests, MonitorNotifications>;
  private readonly samples: SandboxUsage[] = [];
  private problem: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private measuring = false;

  constructor(
    private readonly panel: vscode.WebviewPanel,
    private readonly ref: SandboxRef,
    private readonly name: string,
    private readonly deps: MonitorDependencies,
  ) {
    super();
    this.page = this.own(
      new WebviewPage<MonitorRequests, MonitorNotifications>(panel, {
        extensionUri: deps.extensionUri,
        log: deps.log,
        name: 'monitor',
        parse: messageParser<MonitorRequests>({ ready: isNothing }),
        answer: () => Promise.resolve(this.state()),
        html: (parts) => monitorPage({ ...parts, sandbox: sandboxKey(ref) }),
      }),
    );
    this.own(panel.onDidChangeViewState(() => panel.visible && this.measure()));
    this.own({ dispose: () => clearTimeout(this.timer) });
    this.page.load();
    this.measure();
  }

  private state(): MonitorState {
    const last = this.samples.at(-1);
    const rows = this.samples.flatMap((sample, index): [number, number | null, number | null][] => {
      const at = (sample.at - last!.at) / 1000;
      const before = this.samples[index - 1];
      const gap = before && (sample.at - before.at) / 1000 > GAP_S ? [[at - 0.001, null, null] as [number, null, null]] : [];
      return [...gap, [at, sample.cpu, sample.memory]];
    });
    return {
      name: this.name,
      at: rows.map(([at]) => at),
      cpu: rows.map(([, cpu]) => cpu),
      memory: rows.map(([, , memory]) => memory),
      pids: last?.pids ?? null,
      ...(this.problem !== undefined && { problem: this.problem }),
    };
  }

  private measure(): void {
    clearTimeout(this.timer);
    if (this.measuring || this.isDisposed || !this.panel.visible || this.problem !== undefined) return;
    this.measuring = true;
    const { root, id } = this.ref;
    this.deps.runner
      .request('sandbox/stats', { root, id })
      .then(
        (usage) => this.take(usage),
        (error: unknown) => (this.problem = l10n.t('Nothing more is measured: {0}', reason(error))),
      )
      .finally(() => {
        this.measuring = false;
        if (this.isDisposed) return;
        this.page.notify('state', this.state());
        this.timer = setTimeout(() => this.measure(), SAMPLE_MS);
      });
  }

  private take(usage: SandboxUsage): void {
    this.samples.push(usage);
    while ((usage.at - this.samples[0]!.at) / 1000 > SPAN_S) this.samples.shift();
  }
}
