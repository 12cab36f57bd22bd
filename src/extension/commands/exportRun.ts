/** Exports a run's finished episodes: all of them, or those that the run view has selected or filtered. */
import * as l10n from '@vscode/l10n';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ExportFormat, Selection } from '../../runner/api.js';
import { Failure } from '../failure.js';
import { oneLine } from '../format.js';
import { Commands } from '../ids.js';
import { withCancellableProgress } from '../progress.js';
import type { Services } from '../services.js';
import type { RunRef } from '../views/node.js';
import { runLabel, runName, runTarget } from './targets.js';

interface Format {
  readonly id: ExportFormat;
  readonly label: string;
  readonly detail: string;
  /** Ending of the file; absent for a folder. */
  readonly ending?: string;
}

const formats = (): Format[] => [
  { id: 'jsonl', label: l10n.t('JSON Lines'), detail: l10n.t('A file with the record of each episode'), ending: 'jsonl' },
  { id: 'csv', label: l10n.t('Comma-separated values'), detail: l10n.t('A file with a row for each episode'), ending: 'csv' },
  { id: 'chat', label: l10n.t('Chat messages'), detail: l10n.t('A file with the messages, tools and reward of each episode, for training'), ending: 'jsonl' },
  { id: 'atif', label: l10n.t('ATIF'), detail: l10n.t('A folder as Harbor lays out a job, with a trajectory for each episode') },
  { id: 'native', label: l10n.t('As recorded'), detail: l10n.t('A folder with the traces as they are') },
];

export function registerExportRunCommand(services: Services): void {
  services.commander.register(Commands.exportRun, {
    target: async (argument, [selection]) => {
      const ref = await runTarget(services, argument);
      return ref && { ref, selection: isSelection(selection) ? selection : {} };
    },
    failed: (why, target) => l10n.t('Failed to export {0}: {1}', runName(services, target?.ref), why),
    run: ({ ref, selection }) => exportRun(services, ref, selection),
  });
}

/** A tree passes its selected items in the same place. */
const isSelection = (value: unknown): value is Selection => typeof value === 'object' && value !== null && ('episodes' in value || 'where' in value);

function describe(label: string, { where = '', episodes }: Selection): string {
  if (episodes) return episodes.length === 1 ? l10n.t('Export 1 selected episode of {0}', label) : l10n.t('Export {0} selected episodes of {1}', episodes.length, label);
  return where.trim() === '' ? l10n.t('Export {0}', label) : l10n.t('Export the episodes of {0} that match {1}', label, oneLine(where, 60));
}

async function exportRun({ runs, runner }: Services, ref: RunRef, selection: Selection): Promise<void> {
  const title = describe(runLabel(runs.get(ref) ?? (await runs.fetch(ref))), selection);
  const format = await vscode.window.showQuickPick(formats(), { title, placeHolder: l10n.t('As what?') });
  const path = format && (await (format.ending === undefined ? pickFolder(ref, title, format) : pickFile(ref, title, format)));
  if (!format || path === undefined) return;
  const outcome = await withCancellableProgress(title, (signal) => runner.request('run/export', { ...ref, format: format.id, selection, path }, { signal }));
  if (outcome.cancelled) return;
  const { episodes, left } = outcome.value;
  const done = episodes === 1 ? l10n.t('1 episode exported.') : l10n.t('{0} episodes exported.', episodes);
  const message = left.length === 0 ? done : `${done} ${l10n.t('{0} left out: episode {1}: {2}', left.length, left[0]!.episode, oneLine(left[0]!.why, 200))}`;
  const open = format.ending === undefined ? l10n.t('Reveal') : l10n.t('Open');
  const chosen = await (left.length === 0 ? vscode.window.showInformationMessage(message, open) : vscode.window.showWarningMessage(message, open));
  if (chosen === undefined) return;
  const uri = vscode.Uri.file(path);
  if (format.ending === undefined) await vscode.commands.executeCommand('revealFileInOS', uri);
  else await vscode.window.showTextDocument(uri);
}

async function pickFile({ root, id }: RunRef, title: string, { id: format, ending }: Format): Promise<string | undefined> {
  const name = format === 'chat' ? `${id}.chat.jsonl` : `${id}.${ending}`;
  return onDisk(await vscode.window.showSaveDialog({ title, defaultUri: vscode.Uri.file(join(root, name)), filters: { [l10n.t('Export')]: [ending!] } }));
}

/** A folder that is not there yet, in one of a person's choice: nothing is written among what is there. */
async function pickFolder({ root, id }: RunRef, title: string, { id: format }: Format): Promise<string | undefined> {
  const [parent] = (await vscode.window.showOpenDialog({ title, defaultUri: vscode.Uri.file(root), canSelectFiles: false, canSelectFolders: true, openLabel: l10n.t('Export Here') })) ?? [];
  const folder = onDisk(parent);
  if (folder === undefined) return undefined;
  for (let number = 1; ; number++) {
    const path = join(folder, `${id}-${format}${number === 1 ? '' : `-${number}`}`);
    if (!(await access(path).then(() => true, () => false))) return path;
  }
}

function onDisk(uri: vscode.Uri | undefined): string | undefined {
  if (uri && uri.scheme !== 'file') throw new Failure(l10n.t('the file must be on disk'));
  return uri?.fsPath;
}
