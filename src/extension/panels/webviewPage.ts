/** What every page in a webview has: where its files are, its policy, and requests that are checked, answered, and refused with a sentence. */
import * as l10n from '@vscode/l10n';
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { Disposing } from '../dispose.js';
import { isCancellation, reason } from '../failure.js';
import type { PageParts } from './html.js';
import type { Message, Parsed, RequestMap } from './parse.js';

export interface PageOptions<R extends RequestMap<R>> {
  readonly extensionUri: vscode.Uri;
  readonly log: vscode.LogOutputChannel;
  /** For the log. */
  readonly name: string;
  readonly parse: (value: unknown) => Parsed<R>;
  readonly answer: (message: Message<R>) => Promise<unknown>;
  readonly html: (parts: PageParts) => string;
}

export class WebviewPage<R extends RequestMap<R>, N> extends Disposing {
  constructor(
    private readonly panel: vscode.WebviewPanel,
    private readonly options: PageOptions<R>,
  ) {
    super();
    panel.webview.options = { enableScripts: true, localResourceRoots: [this.resources] };
    this.own(panel.webview.onDidReceiveMessage((message: unknown) => void this.receive(message)));
  }

  private get resources(): vscode.Uri {
    return vscode.Uri.joinPath(this.options.extensionUri, 'dist', 'webview');
  }

  /** Puts the page there, or there again. */
  load(): void {
    const { webview } = this.panel;
    webview.html = this.options.html({
      base: webview.asWebviewUri(this.resources).toString(),
      cspSource: webview.cspSource,
      nonce: randomBytes(16).toString('hex'),
      language: vscode.env.language,
      title: this.panel.title,
      bundle: vscode.l10n.bundle,
    });
  }

  notify<K extends keyof N>(method: K, params: N[K]): void {
    this.post({ method, params });
  }

  private post(message: unknown): void {
    if (!this.isDisposed) void this.panel.webview.postMessage(message);
  }

  private async receive(value: unknown): Promise<void> {
    const { log, name, parse, answer } = this.options;
    const parsed = parse(value);
    if (!parsed.ok) {
      log.warn(`${name}: refused a message that is not of the protocol`);
      if (parsed.id !== undefined) this.post({ id: parsed.id, error: l10n.t('the request was not understood') });
      return;
    }
    const { message } = parsed;
    try {
      this.post({ id: message.id, result: await answer(message) });
    } catch (error) {
      if (!isCancellation(error)) log.warn(`${name} ${String(message.method)}: ${String(error)}`);
      this.post({ id: message.id, error: reason(error) });
    }
  }
}
