/** One run view: answers the page's requests, and tells it that something changed while it can be seen. */
import * as vscode from 'vscode';
import type { RunSnapshot, RunViewNotifications, RunViewRequests, RunViewTarget } from '../../protocol/runView.js';
import { Disposing } from '../dispose.js';
import { oneLine } from '../format.js';
import { Commands, type CommandId } from '../ids.js';
import type { Runner } from '../runner.js';
import { Throttle } from '../throttle.js';
import type { EpisodeRef, RunRef } from '../views/node.js';
import { compareArtifact, openArtifact, readArtifact, saveArtifacts } from './artifacts.js';
import type { Documents } from './documents.js';
import { runViewPage } from './html.js';
import { parseMessage } from './messages.js';
import type { Message } from './parse.js';
import { WebviewPage } from './webviewPage.js';

export interface PanelDependencies {
  readonly extensionUri: vscode.Uri;
  readonly runner: Runner;
  readonly documents: Documents;
  readonly log: vscode.LogOutputChannel;
}

/** How often the page may be told that something changed, in ms. */
const NOTIFY_MS = 250;

const ACTIONS: Readonly<Record<RunViewRequests['action']['params']['action'], CommandId>> = {
  rerun: Commands.rerun,
  rerunFailed: Commands.rerunFailed,
  resume: Commands.resumeRun,
  cancel: Commands.cancelRun,
  compare: Commands.compareRuns,
  reveal: Commands.revealRun,
  openTemplate: Commands.openTemplate,
};

export class RunViewPanel extends Disposing {
  private readonly throttle = this.own(new Throttle(NOTIFY_MS, () => this.notify()));
  private readonly page: WebviewPage<RunViewRequests, RunViewNotifications>;
  private snapshot: Promise<RunSnapshot> | undefined;
  /** Changed while nobody could see it. */
  private stale = false;
  private ready = false;
  /** The page knows that there is something else to show, and has not asked for it yet: to tell it again would only cost the run. */
  private told = false;
  private target: RunViewTarget | undefined;

  constructor(
    readonly panel: vscode.WebviewPanel,
    readonly run: RunRef,
    private readonly deps: PanelDependencies,
  ) {
    super();
    const { runner, extensionUri, log } = deps;
    this.page = this.own(
      new WebviewPage<RunViewRequests, RunViewNotifications>(panel, {
        extensionUri,
        log,
        name: 'run view',
        parse: parseMessage,
        answer: (message) => this.answer(message),
        html: (parts) => runViewPage({ ...parts, run: JSON.stringify(run) }),
      }),
    );
    const icon = (theme: string) => vscode.Uri.joinPath(extensionUri, 'media', `run-${theme}.svg`);
    panel.iconPath = { light: icon('light'), dark: icon('dark') };
    this.own(panel.onDidChangeViewState(() => panel.visible && this.stale && this.throttle.trigger()));
    this.own(runner.on('changed', ({ root, kind, id }) => kind === 'run' && root === run.root && id === run.id && this.changed()));
    this.own(runner.onStarted(() => this.changed()));
    this.own(vscode.workspace.onDidGrantWorkspaceTrust(() => this.load()));
    this.load();
    // While the page comes up, the engine reads the run.
    void this.getSnapshot().catch(() => undefined);
  }

  /** Brings the panel to the front, and an episode or a filter into view. */
  reveal(target: RunViewTarget | undefined, preserveFocus: boolean): void {
    this.panel.reveal(undefined, preserveFocus);
    this.show(target);
  }

  /** Brings an episode or a filter into view, as soon as the page is up. */
  show(target: RunViewTarget | undefined): void {
    if (target && this.ready) this.page.notify('show', target);
    else if (target) this.target = target;
  }

  private load(): void {
    this.ready = this.told = false;
    this.page.load();
  }

  private changed(): void {
    this.snapshot = undefined;
    this.stale = true;
    if (this.panel.visible) this.throttle.trigger();
  }

  private notify(): void {
    if (this.isDisposed || !this.panel.visible) return;
    this.stale = false;
    if (this.told) return;
    this.told = true;
    this.page.notify('changed', {});
  }

  /** Asked for once, until the run changes. */
  private getSnapshot(): Promise<RunSnapshot> {
    if (!this.snapshot) {
      const asked = this.deps.runner.request('run/snapshot', this.run);
      asked.catch(() => this.snapshot === asked && (this.snapshot = undefined));
      this.snapshot = asked;
    }
    return this.snapshot;
  }

  private async answer(message: Message<RunViewRequests>): Promise<unknown> {
    const { runner, documents } = this.deps;
    switch (message.method) {
      case 'ready': {
        this.told = false;
        const snapshot = await this.getSnapshot();
        this.panel.title = runTitle(snapshot);
        const show = this.target;
        this.target = undefined;
        this.ready = true;
        return { snapshot, trusted: vscode.workspace.isTrusted, ...(show && { show }) } satisfies RunViewRequests['ready']['result'];
      }
      case 'snapshot':
        this.told = false;
        return this.getSnapshot();
      case 'rows':
        return runner.request('run/rows', { ...this.run, query: message.params });
      case 'groups':
        return runner.request('run/groups', { ...this.run, query: message.params });
      case 'episode':
        return runner.request('run/episode', { ...this.run, ...message.params });
      case 'open':
        if ('artifact' in message.params) await openArtifact(this.run, message.params.episode, message.params.artifact);
        else if (message.params.what === 'trace') await vscode.commands.executeCommand(Commands.openTrace, { ...this.run, episode: message.params.episode } satisfies EpisodeRef);
        else await documents.openEpisode(this.run, message.params.episode, message.params.what);
        return null;
      case 'artifact':
        return readArtifact(this.run, message.params.episode, message.params.artifact);
      case 'compareArtifact':
        await compareArtifact(this.deps.runner, this.run, message.params.episode, message.params.artifact);
        return null;
      case 'saveArtifacts':
        await saveArtifacts(this.run, message.params.episode);
        return null;
      case 'export':
        await vscode.commands.executeCommand(Commands.exportRun, this.run, message.params);
        return null;
      case 'compareEpisodes': {
        const [a, b] = [message.params.a, message.params.b].map((episode): EpisodeRef => ({ ...this.run, episode }));
        await vscode.commands.executeCommand(Commands.compareTraces, a, b);
        return null;
      }
      case 'action':
        await vscode.commands.executeCommand(ACTIONS[message.params.action], message.params.action === 'openTemplate' ? await this.templateRef() : this.run);
        return null;
    }
  }

  private async templateRef(): Promise<{ root: string; file: string }> {
    return { root: this.run.root, file: (await this.getSnapshot()).run.file };
  }
}

const runTitle = ({ run }: Pick<RunSnapshot, 'run'>): string => oneLine(`${run.template} #${run.number}`, 60);
