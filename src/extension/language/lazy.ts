/** Loads the language features with the first template that is opened, or what else reads templates when it is asked for. */
import { createRequire } from 'node:module';
import * as vscode from 'vscode';
import { Disposing } from '../dispose.js';
import { isTemplateName } from '../ids.js';
import type * as Language from './index.js';

/** The bundle of what reads YAML. Loaded once, by who needs it first. */
export const loadLanguage = () => createRequire(__filename)('./language.js') as typeof Language;

export class LazyLanguage extends Disposing {
  private loaded = false;

  constructor(private readonly log: vscode.LogOutputChannel) {
    super();
    this.own(vscode.workspace.onDidOpenTextDocument((document) => this.see(document)));
    vscode.workspace.textDocuments.forEach((document) => this.see(document));
  }

  private see({ uri }: vscode.TextDocument): void {
    if (this.loaded || uri.scheme !== 'file' || !isTemplateName(uri.path)) return;
    this.loaded = true;
    try {
      this.own(loadLanguage().startLanguage(this.log));
    } catch (error) {
      this.log.error(`language features: ${String(error)}`);
    }
  }
}
