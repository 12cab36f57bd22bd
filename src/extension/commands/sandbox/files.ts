/** The files of a sandbox: opened in editors, made, renamed, removed, brought in and out. */
import * as l10n from '@vscode/l10n';
import { posix } from 'node:path';
import * as vscode from 'vscode';
import { Failure } from '../../failure.js';
import { formatBytes, oneLine } from '../../format.js';
import { Commands, InternalCommands, SandboxScheme } from '../../ids.js';
import { withCancellableProgress } from '../../progress.js';
import { tellQuietly } from '../../quiet.js';
import { MOST_IN_EDITOR, sandboxUri } from '../../sandbox/fileSystem.js';
import type { Services } from '../../services.js';
import type { FileRef, SandboxRef } from '../../views/node.js';
import { fileOf, nameOf, sandboxTarget } from './targets.js';

/** How much of a file too large for an editor is shown. */
const PART = 4_000_000;

export function registerFileCommands(services: Services, revealFiles: (ref: SandboxRef) => Promise<void>): void {
  const { commander } = services;
  const uriOf = (file: FileRef) => sandboxUri(file, file.path);
  const nameIn = (file: FileRef | undefined) => oneLine(file?.path ?? l10n.t('the file'));
  const folderTarget = async (argument: unknown): Promise<FileRef | undefined> => {
    const file = fileOf(argument);
    if (file) return file.folder ? file : { ...file, path: posix.dirname(file.path), folder: true };
    const ref = await sandboxTarget(services, argument);
    return ref && { ...ref, path: '/', folder: true, size: 0 };
  };

  commander.register(InternalCommands.openSandboxFile, {
    target: fileOf,
    needsTrust: true,
    failed: (why, file) => l10n.t('Failed to open {0}: {1}', nameIn(file), why),
    run: openFile,
  });
  commander.register(Commands.openSandboxFiles, {
    target: (argument) => sandboxTarget(services, argument),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to open the files of {0}: {1}', nameOf(services, ref), why),
    run: async (ref) => {
      await revealFiles(ref);
      const chosen = await vscode.window.showOpenDialog({ defaultUri: sandboxUri(ref, '/'), canSelectMany: true, title: l10n.t('Files of {0}', nameOf(services, ref)) });
      for (const uri of chosen ?? []) await vscode.commands.executeCommand('vscode.open', uri);
    },
  });
  commander.register(Commands.addSandboxFolder, {
    target: (argument) => sandboxTarget(services, argument),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to add the files of {0} to the workspace: {1}', nameOf(services, ref), why),
    run: (ref) => addToWorkspace(ref, nameOf(services, ref)),
  });
  commander.register(Commands.newSandboxFile, {
    target: folderTarget,
    needsTrust: true,
    failed: (why, file) => l10n.t('Failed to make a file in {0}: {1}', nameIn(file), why),
    run: async (folder) => {
      const path = await askName(folder, l10n.t('New File'), l10n.t('Name of the file; with "/" at the end, of a folder'), '');
      if (path === undefined) return;
      const uri = sandboxUri(folder, path.replace(/\/+$/, ''));
      if (path.endsWith('/')) return vscode.workspace.fs.createDirectory(uri);
      await writeFresh(uri);
      await vscode.window.showTextDocument(uri);
    },
  });
  commander.register(Commands.renameSandboxFile, {
    target: fileOf,
    needsTrust: true,
    failed: (why, file) => l10n.t('Failed to rename {0}: {1}', nameIn(file), why),
    run: async (file) => {
      const path = await askName({ ...file, path: posix.dirname(file.path) }, l10n.t('Rename'), l10n.t('Its name, or its path'), posix.basename(file.path));
      if (path !== undefined && path !== file.path) await vscode.workspace.fs.rename(uriOf(file), sandboxUri(file, path), { overwrite: false });
    },
  });
  commander.register(Commands.deleteSandboxFile, {
    target: fileOf,
    needsTrust: true,
    failed: (why, file) => l10n.t('Failed to delete {0}: {1}', nameIn(file), why),
    run: async (file) => {
      const yes = l10n.t('Delete');
      const question = file.folder ? l10n.t('Delete {0} and all that is in it?', nameIn(file)) : l10n.t('Delete {0}?', nameIn(file));
      if ((await vscode.window.showWarningMessage(question, { modal: true, detail: l10n.t('It is removed from the sandbox for good.') }, yes)) === yes) await vscode.workspace.fs.delete(uriOf(file), { recursive: true });
    },
  });
  commander.register(Commands.downloadFromSandbox, {
    target: fileOf,
    needsTrust: true,
    failed: (why, file) => l10n.t('Failed to download {0}: {1}', nameIn(file), why),
    run: (file) => download(services, file),
  });
  commander.register(Commands.uploadToSandbox, {
    target: folderTarget,
    needsTrust: true,
    failed: (why, file) => l10n.t('Failed to upload to {0}: {1}', nameIn(file), why),
    run: async (folder) => {
      const chosen = await vscode.window.showOpenDialog({ canSelectFiles: true, canSelectFolders: true, canSelectMany: true, openLabel: l10n.t('Upload') });
      if (chosen?.length) await upload(services, folder, chosen);
    },
  });
}

async function openFile(file: FileRef): Promise<void> {
  if (file.size <= MOST_IN_EDITOR) {
    await vscode.commands.executeCommand('vscode.open', sandboxUri(file, file.path));
    return;
  }
  const first = l10n.t('Open the First {0}', formatBytes(PART));
  const last = l10n.t('Open the Last {0}', formatBytes(PART));
  const whole = l10n.t('Download');
  const chosen = await vscode.window.showInformationMessage(l10n.t('{0} has {1}, too much for an editor.', oneLine(file.path), formatBytes(file.size)), first, last, whole);
  if (chosen === whole) await vscode.commands.executeCommand(Commands.downloadFromSandbox, file);
  else if (chosen) await vscode.commands.executeCommand('vscode.open', sandboxUri(file, file.path, { offset: chosen === first ? 0 : file.size - PART, length: PART }));
}

/** A path below a folder, or any absolute one. */
async function askName(folder: FileRef, title: string, prompt: string, value: string): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title,
    prompt,
    value,
    valueSelection: [0, value.length - posix.extname(value).length],
    validateInput: (text) => (!text || text.includes('\0') ? l10n.t('A name has at least one character.') : undefined),
  });
  return name === undefined ? undefined : `${posix.resolve(folder.path, name)}${name.endsWith('/') ? '/' : ''}`;
}

async function writeFresh(uri: vscode.Uri): Promise<void> {
  const there = await vscode.workspace.fs.stat(uri).then(() => true, () => false);
  if (there) throw new Failure(l10n.t('{0} exists already', oneLine(uri.path)));
  await vscode.workspace.fs.writeFile(uri, new Uint8Array());
}

async function download(services: Services, file: FileRef): Promise<void> {
  const [folder] = (await vscode.window.showOpenDialog({ canSelectFiles: false, canSelectFolders: true, openLabel: l10n.t('Download Here') })) ?? [];
  if (!folder) return;
  if (folder.scheme !== 'file') throw new Failure(l10n.t('the folder must be on disk'));
  const { root, id } = file;
  const outcome = await withCancellableProgress(l10n.t('Downloading {0}', oneLine(file.path)), (signal) => services.runner.request('files/download', { root, id, paths: [file.path], to: folder.fsPath }, { signal }));
  if (outcome.cancelled) return;
  const { files, bytes, skipped } = outcome.value;
  const text = l10n.t('{0} files, {1}', files, formatBytes(bytes));
  if (skipped.length === 0) return tellQuietly(text);
  services.log.warn(`download of ${oneLine(file.path)}: left out ${skipped.map((name) => oneLine(name)).join(', ')}`);
  void vscode.window.showWarningMessage(l10n.t('{0}. {1} were left out: they are devices, pipes, or links that lead outside.', text, skipped.length));
}

/** Files and folders of this machine into a folder of a sandbox. Rejects with `Failure` or `RunnerError`. */
export async function upload({ runner, files }: Pick<Services, 'runner' | 'files'>, folder: FileRef, uris: readonly vscode.Uri[]): Promise<void> {
  const elsewhere = uris.find(({ scheme }) => scheme !== 'file');
  if (elsewhere) throw new Failure(l10n.t('{0} is not on the disk of this machine', oneLine(elsewhere.path)));
  const { root, id, path } = folder;
  await withCancellableProgress(l10n.t('Uploading to {0}', oneLine(path)), (signal) => runner.request('files/upload', { root, id, from: uris.map(({ fsPath }) => fsPath), to: path }, { signal }));
  files.touchFolder(folder, path);
}

/** A first second folder makes a window with one folder begin anew: what runs in its terminals would be lost. */
async function addToWorkspace(ref: SandboxRef, name: string): Promise<void> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const uri = sandboxUri(ref, '/');
  if (folders.some((folder) => folder.uri.scheme === SandboxScheme && folder.uri.authority === uri.authority)) return void (await vscode.commands.executeCommand('workbench.view.explorer'));
  if (!vscode.workspace.workspaceFile && folders.length === 1) {
    const yes = l10n.t('Add and Reload');
    const detail = l10n.t('VS Code begins anew when a window gets its second folder. The sandboxes stay; terminals in them are closed.');
    if ((await vscode.window.showWarningMessage(l10n.t('Add the files of {0} to the workspace?', name), { modal: true, detail }, yes)) !== yes) return;
  }
  vscode.workspace.updateWorkspaceFolders(folders.length, 0, { uri, name });
}
