/** One trace view, in the tab of a file or of a run's episode: answers the page's requests from the engine. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { TraceRef, TraceViewCommand, TraceViewNotifications, TraceViewRequests, TraceViewTarget } from '../../protocol/traceView.js';
import { Disposing } from '../dispose.js';
import { oneLine } from '../format.js';
import { Commands } from '../ids.js';
import { tellQuietly } from '../quiet.js';
import { roots } from '../roots.js';
import { linkAddress } from '../traceLink.js';
import { browse } from './browse.js';
import { traceViewPage } from './html.js';
import type { Message } from './parse.js';
import type { Places } from './places.js';
import type { PanelDependencies } from './runViewPanel.js';
import { parseTraceMessage } from './traceMessages.js';
import { WebviewPage } from './webviewPage.js';

let searches = 0;

export interface TraceDependencies extends PanelDependencies {
  /** Where readers were. */
  readonly places: Places;
}

export class TraceViewPanel extends Disposing {
  private readonly page: WebviewPage<TraceViewRequests, TraceViewNotifications>;
  private trace: TraceRef;
  private ready = false;
  private target: TraceViewTarget | undefined;
  private search: AbortController | undefined;

  constructor(
    readonly panel: vscode.WebviewPanel,
    trace: TraceRef,
    private readonly deps: TraceDependencies,
  ) {
    super();
    this.trace = trace;
    const { extensionUri, log } = deps;
    this.page = this.own(
      new WebviewPage<TraceViewRequests, TraceViewNotifications>(panel, {
        extensionUri,
        log,
        name: 'trace view',
        parse: parseTraceMessage,
        answer: (message) => this.answer(message),
        html: (parts) => traceViewPage({ ...parts, trace: JSON.stringify(this.trace) }),
      }),
    );
    this.own({ dispose: () => this.search?.abort() });
    this.page.load();
  }

  /** Brings a step into view, as soon as the page is up. */
  show(target: TraceViewTarget): void {
    if (this.ready) this.page.notify('show', target);
    else this.target = target;
  }

  command(command: TraceViewCommand): void {
    this.page.notify('command', { command });
  }

  /** Lets go of the open file. */
  async close(): Promise<void> {
    this.dispose();
    await this.deps.runner.request('trace/close', { trace: this.trace }).catch(() => undefined);
  }

  /** Path of the trace's file. */
  get file(): string {
    return this.trace.file;
  }

  private async answer({ method, params }: Message<TraceViewRequests>): Promise<unknown> {
    const { runner, documents } = this.deps;
    const { trace } = this;
    switch (method) {
      case 'ready': {
        this.trace = { file: trace.file, ...(params.member !== undefined && { member: params.member }) };
        const opened = await runner.request('trace/open', { trace: this.trace });
        const show = this.target;
        this.target = undefined;
        this.ready = true;
        const kept = this.deps.places.get(trace.file);
        return { ...opened, ...(show && { show }), ...(kept !== undefined && { kept }) } satisfies TraceViewRequests['ready']['result'];
      }
      case 'keep':
        await this.deps.places.set(trace.file, params.state);
        return null;
      case 'refresh':
        return runner.request('trace/refresh', { trace, ...params });
      case 'summaries':
        return runner.request('trace/summaries', { trace, ...params });
      case 'step':
        return runner.request('trace/step', { trace, ...params });
      case 'raw':
        return runner.request('trace/raw', { trace, ...params });
      case 'blob':
        return Uint8Array.from(Buffer.from(await runner.request('trace/blob', { trace, ...params }), 'base64'));
      case 'timeline':
        return runner.request('trace/timeline', { trace, ...params });
      case 'nextError':
        return runner.request('trace/nextError', { trace, ...params });
      case 'search':
        return this.find(params);
      case 'endSearch':
        this.search?.abort();
        return null;
      case 'open':
        await documents.openStep(trace, params.step, 'place' in params ? params.place : undefined);
        return null;
      case 'copy':
        await vscode.env.clipboard.writeText(params.text);
        tellQuietly(l10n.t('Copied: {0}', oneLine(params.what, 60)));
        return null;
      case 'copyLink':
        await this.copyLink(params);
        return null;
      case 'travel':
        // What comes of it is said where it goes on.
        void vscode.commands.executeCommand(params.to === 'sandbox' ? Commands.openSandboxAtStep : Commands.forkFromStep, { file: trace.file, step: params.step });
        return null;
      case 'browse':
        await browse(params.url);
        return null;
    }
  }

  private async find({ search, text }: TraceViewRequests['search']['params']): Promise<TraceViewRequests['search']['result']> {
    this.search?.abort();
    const current = (this.search = new AbortController());
    const id = String(++searches);
    const { runner } = this.deps;
    const subscription = runner.on('trace/hits', (params) => {
      if (params.search === id && !current.signal.aborted) this.page.notify('hits', { search, hits: params.hits });
    });
    try {
      return await runner.request('trace/search', { trace: this.trace, search: id, text }, { signal: current.signal });
    } catch (error) {
      if (current.signal.aborted) return { hits: 0, complete: false };
      throw error;
    } finally {
      subscription.dispose();
    }
  }

  /** A line that says what it is wherever it is pasted, and the link. */
  private async copyLink({ step, title }: TraceViewRequests['copyLink']['params']): Promise<void> {
    const folders = roots().map(({ path }) => path);
    const address = linkAddress('rl-sandboxes.rl-sandboxes', { ...this.trace, step }, folders);
    const name = vscode.workspace.asRelativePath(this.trace.file);
    await vscode.env.clipboard.writeText(`${oneLine(name, 300)}: ${oneLine(title, 200)}\n${vscode.env.uriScheme}://${address}`);
    tellQuietly(l10n.t('Copied: {0}', l10n.t('link to the step')));
  }
}
