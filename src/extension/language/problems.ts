/** Problems of templates in the Problems panel, as one types: from the same validator as the command line's. */
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { PROVIDERS } from '../../sandbox/registry.js';
import { providerProblems } from '../../template/capabilities.js';
import { readTemplate } from '../../template/load.js';
import { parseTemplate, type ParsedTemplate } from '../../template/parse.js';
import type { Problem } from '../../template/template.js';
import { Disposing } from '../dispose.js';
import { isTemplateName, Settings } from '../ids.js';
import { defaultProvider } from '../settings.js';

const DEBOUNCE_MS = 150;
const SOURCE = 'RL Sandboxes';

export class TemplateProblems extends Disposing {
  private readonly collection = this.own(vscode.languages.createDiagnosticCollection(SOURCE));
  private readonly timers = new Map<string, NodeJS.Timeout>();
  /** What the last look at the disk said of files that a template names, by the place in it. */
  private readonly missing = new Map<string, readonly Problem[]>();

  constructor(private readonly log: vscode.LogOutputChannel) {
    super();
    const { workspace } = vscode;
    this.own(workspace.onDidOpenTextDocument((document) => this.schedule(document, 0)));
    this.own(workspace.onDidChangeTextDocument(({ document }) => this.schedule(document, DEBOUNCE_MS)));
    this.own(workspace.onDidSaveTextDocument((document) => this.schedule(document, 0)));
    this.own(workspace.onDidCloseTextDocument((document) => this.forget(document)));
    this.own(workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(Settings.provider) && this.all()));
    this.own({ dispose: () => this.timers.forEach((timer) => clearTimeout(timer)) });
    this.all();
  }

  private all(): void {
    for (const document of vscode.workspace.textDocuments) this.schedule(document, 0);
  }

  private schedule(document: vscode.TextDocument, afterMs: number): void {
    if (document.uri.scheme !== 'file' || !isTemplateName(document.uri.path)) return;
    const key = document.uri.toString();
    clearTimeout(this.timers.get(key));
    const check = () => {
      this.timers.delete(key);
      this.check(document).catch((error: unknown) => this.log.error(`problems of ${basename(document.uri.fsPath)}: ${String(error)}`));
    };
    this.timers.set(key, setTimeout(check, afterMs));
  }

  private forget({ uri }: vscode.TextDocument): void {
    clearTimeout(this.timers.get(uri.toString()));
    this.timers.delete(uri.toString());
    this.missing.delete(uri.toString());
    this.collection.delete(uri);
  }

  private async check(document: vscode.TextDocument): Promise<void> {
    const { uri, version } = document;
    const key = uri.toString();
    const parsed = parseTemplate(document.getText(), uri.fsPath);
    if (!document.isDirty) {
      const { problems } = await readTemplate(uri.fsPath);
      const places = new Set(parsed.references.map(({ path }) => path));
      this.missing.set(key, problems.filter(({ path, message }) => places.has(path) && !parsed.problems.some((known) => known.message === message)));
    }
    // Closed, or typed on: whoever did that has scheduled another look.
    if (document.isClosed || document.version !== version || this.isDisposed) return;
    const problems = [...parsed.problems, ...this.stillMissing(key, parsed), ...providerProblems(parsed, PROVIDERS, defaultProvider(uri.fsPath))];
    this.collection.set(uri, problems.map(toDiagnostic));
  }

  /** What was missing when the file was saved, as long as the template still names it; at its place now. */
  private stillMissing(key: string, parsed: ParsedTemplate): Problem[] {
    const named = new Map(parsed.references.map((reference) => [reference.path, reference]));
    return (this.missing.get(key) ?? []).flatMap((problem) => {
      const reference = named.get(problem.path);
      return reference && problem.message.includes(reference.written) ? [{ ...problem, ...parsed.locate(problem.path) }] : [];
    });
  }
}

function toDiagnostic({ line, column, endLine, endColumn, severity, message }: Problem): vscode.Diagnostic {
  const range = new vscode.Range(line - 1, column - 1, Math.max(line, endLine) - 1, Math.max(1, endColumn) - 1);
  const level = severity === 'error' ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
  const diagnostic = new vscode.Diagnostic(range, message, level);
  diagnostic.source = SOURCE;
  return diagnostic;
}
