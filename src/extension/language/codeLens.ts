/** Run, Build and the last mean above a template. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Disposing } from '../dispose.js';
import { formatMean } from '../format.js';
import { Commands, TEMPLATE_GLOB } from '../ids.js';
import { hasRoot, rootOf } from '../roots.js';
import type { Services } from '../services.js';
import { Throttle } from '../throttle.js';
import { describeRun, isActive } from '../views/runNodes.js';

const REDRAW_MS = 500;

export class TemplateCodeLens extends Disposing implements vscode.CodeLensProvider {
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(private readonly services: Services) {
    super();
    const { runs } = services;
    const redraw = this.own(new Throttle(REDRAW_MS, () => this.changed.fire()));
    this.own(runs.onDidChangeList(() => redraw.trigger()));
    this.own(runs.onDidChangeRun(() => redraw.trigger()));
    this.own(vscode.workspace.onDidGrantWorkspaceTrust(() => redraw.trigger()));
    this.own(vscode.languages.registerCodeLensProvider({ scheme: 'file', pattern: TEMPLATE_GLOB }, this));
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const { uri } = document;
    if (!hasRoot(uri.fsPath)) return [];
    const lines = Array.from({ length: Math.min(document.lineCount, 200) }, (_, line) => line);
    const line = lines.find((at) => /^name\s*:/.test(document.lineAt(at).text)) ?? 0;
    const range = new vscode.Range(line, 0, line, 0);
    const lens = (title: string, command: string, argument: unknown) => new vscode.CodeLens(range, { title, command, arguments: [argument] });
    const lenses = vscode.workspace.isTrusted ? [lens(`$(play) ${l10n.t('Run')}`, Commands.run, uri), lens(l10n.t('Build'), Commands.build, uri)] : [];
    const root = rootOf(uri.fsPath);
    const last = this.services.runs.known().find((run) => run.root === root && run.summary.run.file === uri.fsPath);
    if (last) {
      const { run, mean, ci95 } = last.summary;
      const text = isActive(last.summary) ? describeRun(last.summary) : l10n.t('#{0} mean {1}', run.number, formatMean(mean, ci95));
      lenses.push(lens(text, Commands.openRun, { root, id: run.id }));
    } else void this.services.runs.list().catch(() => undefined);
    return lenses;
  }
}
