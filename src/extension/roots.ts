/** Workspace folders: each has a `.rlenv/` of its own. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Failure } from './failure.js';

export interface Root {
  readonly path: string;
  readonly name: string;
}

/** Folders that lie on this machine's disk. */
export const roots = (): Root[] =>
  (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file').map(({ uri, name }) => ({ path: uri.fsPath, name }));

/** Throws a `Failure` that a person can act on when the file is in no folder of the workspace. */
export function rootOf(file: string): string {
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file));
  if (folder) return folder.uri.fsPath;
  throw roots().length === 0 ? noFolder() : new Failure(l10n.t('the file is outside the folders of this workspace'));
}

/** Whether a file is in some folder of the workspace. */
export const hasRoot = (file: string): boolean => vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file)) !== undefined;

export const noFolder = (): Failure =>
  new Failure(l10n.t('no folder is open; runs and snapshots are kept in the folder of the workspace'), { title: l10n.t('Open Folder'), command: 'vscode.openFolder' });

/** The only folder, or the one that a person picks; undefined if they gave up. Rejects with `Failure` if there is none. */
export async function pickRoot(): Promise<Root | undefined> {
  const all = roots();
  if (all.length === 0) throw noFolder();
  if (all.length === 1) return all[0];
  const items = all.map((root) => ({ label: root.name, description: root.path, root }));
  return (await vscode.window.showQuickPick(items, { placeHolder: l10n.t('In which folder?') }))?.root;
}
