/** Files that are dropped on a folder of a sandbox, from the explorer or from the desktop. */
import * as l10n from '@vscode/l10n';
import { posix } from 'node:path';
import * as vscode from 'vscode';
import { upload } from '../commands/sandbox/files.js';
import type { Services } from '../services.js';
import type { FileRef } from '../views/node.js';
import type { Handle } from '../views/treeModel.js';
import { sandboxUri } from './fileSystem.js';

const URIS = 'text/uri-list';

export class UploadByDrop implements vscode.TreeDragAndDropController<Handle> {
  readonly dropMimeTypes = [URIS, 'files'];
  readonly dragMimeTypes = [URIS];

  constructor(private readonly services: Services) {}

  /** Files can be dragged out into an editor. */
  handleDrag(source: readonly Handle[], data: vscode.DataTransfer): void {
    const uris = source.flatMap(({ node: { file } }) => (file && !file.folder ? [sandboxUri(file, file.path).toString()] : []));
    if (uris.length > 0) data.set(URIS, new vscode.DataTransferItem(uris.join('\r\n')));
  }

  async handleDrop(target: Handle | undefined, data: vscode.DataTransfer): Promise<void> {
    const folder = folderOf(target);
    if (!folder || !vscode.workspace.isTrusted) return;
    try {
      await this.drop(folder, data);
    } catch (error) {
      this.services.commander.report(error, (why) => l10n.t('Failed to upload to {0}: {1}', folder.path, why));
    }
  }

  private async drop(folder: FileRef, data: vscode.DataTransfer): Promise<void> {
    const list = (await data.get(URIS)?.asString()) ?? '';
    const uris = list.split(/\r?\n/).filter((line) => line && !line.startsWith('#')).map((line) => vscode.Uri.parse(line, true));
    if (uris.length > 0) return upload(this.services, folder, uris);
    // From a desktop that is not where the sandboxes are: only the content comes.
    for (const [, item] of data) {
      const file = item.asFile();
      if (file) await vscode.workspace.fs.writeFile(sandboxUri(folder, posix.join(folder.path, posix.basename(file.name))), await file.data());
    }
  }
}

function folderOf(target: Handle | undefined): FileRef | undefined {
  const { file, sandbox } = target?.node ?? {};
  if (file) return file.folder ? file : { ...file, path: posix.dirname(file.path), folder: true };
  return sandbox && { ...sandbox, path: '/', folder: true, size: 0 };
}
