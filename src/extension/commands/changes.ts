/** Files that are other ones on two sides, in VS Code's diff editor. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { FileChange } from '../../sandbox/provider.js';
import { oneLine } from '../format.js';
import { tellQuietly } from '../quiet.js';

/** More files than these at once are too many to read; a person picks then. */
const MOST_AT_ONCE = 50;
const ICONS: Readonly<Record<FileChange['kind'], string>> = { added: 'diff-added', modified: 'diff-modified', removed: 'diff-removed' };

export interface Sides {
  /** Of what has changed, for a sentence. */
  readonly name: string;
  /** Of the editor of many files. */
  readonly title: string;
  readonly before: (path: string) => vscode.Uri;
  readonly after: (path: string) => vscode.Uri;
}

/** Resolves with the files that are shown; undefined if a person picked none. */
export async function showChanges(files: readonly FileChange[], sides: Sides): Promise<readonly FileChange[] | undefined> {
  const { name, title, before, after } = sides;
  if (files.length === 0) {
    tellQuietly(l10n.t('{0}: no file has changed', name));
    return [];
  }
  const chosen = files.length > MOST_AT_ONCE ? await pick(files, name) : files;
  if (!chosen?.length) return undefined;
  const [only] = chosen;
  if (chosen.length === 1 && only!.kind === 'modified') {
    await vscode.commands.executeCommand('vscode.diff', before(only!.path), after(only!.path), l10n.t('{0} ({1})', oneLine(only!.path), name));
  } else {
    const resources = chosen.map(({ path, kind }) => [after(path), kind === 'added' ? undefined : before(path), kind === 'removed' ? undefined : after(path)]);
    await vscode.commands.executeCommand('vscode.changes', title, resources);
  }
  return chosen;
}

async function pick(files: readonly FileChange[], name: string): Promise<readonly FileChange[] | undefined> {
  const items = files.map((change, index) => ({ label: `$(${ICONS[change.kind]}) ${oneLine(change.path, 200)}`, picked: index < MOST_AT_ONCE, change }));
  const picked = await vscode.window.showQuickPick(items, { canPickMany: true, title: l10n.t('{0}: {1} files changed', name, files.length), placeHolder: l10n.t('Which of them shall be compared?') });
  return picked?.map(({ change }) => change);
}
