/** One output channel for each sandbox that something was run in or is read from. They stay when it has ended, to be read. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Disposing } from '../dispose.js';

/** More are too many to choose from: the one that was used longest ago goes. */
const MOST = 20;

export class Channels extends Disposing {
  private readonly channels = new Map<string, vscode.OutputChannel>();

  constructor() {
    super();
    this.own({ dispose: () => this.channels.forEach((channel) => channel.dispose()) });
  }

  /** `name` of the sandbox, and of a service where it is its log. */
  get(name: string): vscode.OutputChannel {
    const channel = this.channels.get(name) ?? vscode.window.createOutputChannel(l10n.t('Sandbox {0}', name));
    this.channels.delete(name);
    this.channels.set(name, channel);
    if (this.channels.size > MOST) {
      const [oldest, unused] = this.channels.entries().next().value!;
      this.channels.delete(oldest);
      unused.dispose();
    }
    return channel;
  }
}

/** Whether a person has the channel before them: VS Code shows it as a document. */
export const isShown = (channel: vscode.OutputChannel): boolean =>
  vscode.window.visibleTextEditors.some(({ document }) => document.uri.scheme === 'output' && decodeURIComponent(document.uri.path).endsWith(channel.name));
