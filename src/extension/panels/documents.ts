/** Read-only documents: outputs of episodes, and reports. */
import * as l10n from '@vscode/l10n';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import * as vscode from 'vscode';
import { Layout } from '../../store/layout.js';
import type { Place, TraceRef } from '../../protocol/traceView.js';
import { Disposing } from '../dispose.js';
import { DocumentScheme } from '../ids.js';
import type { Runner } from '../runner.js';
import type { RunRef } from '../views/node.js';

export type EpisodeText = 'stdout' | 'stderr' | 'verifier' | 'record';

interface Address extends RunRef {
  readonly episode: number;
  readonly what: EpisodeText;
}

interface StepAddress {
  readonly trace: TraceRef;
  readonly step: number;
  /** The step as it stands in the file, if absent. */
  readonly place?: Place;
  /** Whether JSON is spread over lines, so that two steps can be compared. */
  readonly spread?: boolean;
}

const REPORT = 'report';
const TRACE = 'trace';
/** Endings that make VS Code choose a language. */
const ENDINGS: Readonly<Record<string, string>> = { markdown: 'md', json: 'json', diff: 'diff', python: 'py', javascript: 'js', typescript: 'ts', sh: 'sh', bash: 'sh', yaml: 'yaml', html: 'html', css: 'css', sql: 'sql' };
/** Editors refuse more than 50 MB. */
const MOST_BYTES = 20 * 2 ** 20;

/** All that is needed to find a text again is in its address, so that the editor survives a reload of the window. */
function episodeUri({ root, id, episode, what }: Address): vscode.Uri {
  const name = what === 'record' ? 'record.json' : `${what}.log`;
  return vscode.Uri.from({ scheme: DocumentScheme, path: `/${id}/episode ${episode}/${name}`, query: JSON.stringify({ root, id, episode, what }) });
}

export class Documents extends Disposing implements vscode.TextDocumentContentProvider {
  private readonly changed = this.own(new vscode.EventEmitter<vscode.Uri>());
  readonly onDidChange = this.changed.event;
  private readonly reports = new Map<string, string>();

  constructor(private readonly runner: Runner) {
    super();
    this.own(vscode.workspace.registerTextDocumentContentProvider(DocumentScheme, this));
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    if (uri.authority === REPORT) return this.reports.get(uri.path) ?? '';
    if (uri.authority === TRACE) return (await this.stepText(JSON.parse(uri.query) as StepAddress)).text;
    const { root, id, episode, what } = JSON.parse(uri.query) as Address;
    if (what !== 'record') return readOutput(join(new Layout(root).episode(id, Number(episode)), `${what}.log`));
    const { record } = await this.runner.request('run/episode', { root, id, episode });
    return `${JSON.stringify(record, undefined, 2)}\n`;
  }

  async openEpisode(ref: RunRef, episode: number, what: EpisodeText): Promise<void> {
    await this.show(episodeUri({ ...ref, episode, what }));
  }

  /** Opens a text of a step of a trace; the step as it stands in the file, if `place` is absent. */
  async openStep(trace: TraceRef, step: number, place?: Place): Promise<void> {
    const address: StepAddress = { trace, step, ...(place && { place }) };
    const { language } = await this.stepText(address);
    const name = `${place ? place.join('.') : 'raw'}.${ENDINGS[language] ?? 'log'}`;
    await this.show(vscode.Uri.from({ scheme: DocumentScheme, authority: TRACE, path: `/${basename(trace.file)}/step ${step}/${name}`, query: JSON.stringify(address) }));
  }

  /** Opens two steps as texts in VS Code's diff editor. */
  async diffSteps(a: Omit<StepAddress, 'spread'>, b: Omit<StepAddress, 'spread'>, title: string): Promise<void> {
    const uri = (side: string, { trace, step }: StepAddress) =>
      vscode.Uri.from({ scheme: DocumentScheme, authority: TRACE, path: `/${basename(trace.file)}/${side}/step ${step}.json`, query: JSON.stringify({ trace, step, spread: true } satisfies StepAddress) });
    await vscode.commands.executeCommand('vscode.diff', uri('a', a), uri('b', b), title);
  }

  private async stepText({ trace, step, place, spread }: StepAddress): Promise<{ text: string; language: string }> {
    if (spread) {
      // Every text of it as people read it, with line breaks that are such.
      const detail = await this.runner.request('trace/step', { trace, step });
      return { text: `${JSON.stringify(detail, undefined, 2).replaceAll('\\n', '\n')}\n`, language: 'json' };
    }
    if (!place) {
      const { text, bytes } = await this.runner.request('trace/raw', { trace, step, maxBytes: MOST_BYTES });
      return { text: bytes > MOST_BYTES ? `${text}\n${l10n.t('[The last {0} bytes are not shown.]', bytes - MOST_BYTES)}\n` : text, language: 'json' };
    }
    const { text, language, cut } = await this.runner.request('trace/text', { trace, step, place });
    const plain = stripVTControlCharacters(text);
    return { text: cut > 0 ? `${plain}\n${l10n.t('[The last {0} characters are not shown.]', cut)}\n` : plain, language };
  }

  /** Opens a text under a name; a later one of the same name replaces it. */
  async openReport(name: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: DocumentScheme, authority: REPORT, path: `/${name}` });
    this.reports.set(uri.path, text);
    this.changed.fire(uri);
    await this.show(uri);
  }

  private async show(uri: vscode.Uri): Promise<void> {
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }
}

/** As a person reads it: without the escapes of a terminal, and, where the beginning is not shown, with a first line that says so. */
async function readOutput(file: string): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const buffer = new Uint8Array(Math.min(size, MOST_BYTES));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, size - buffer.length);
    const text = stripVTControlCharacters(new TextDecoder().decode(buffer.subarray(0, bytesRead)));
    return size > bytesRead ? `${l10n.t('[The first {0} bytes are not shown.]', size - bytesRead)}\n${text}` : text;
  } finally {
    await handle.close();
  }
}
