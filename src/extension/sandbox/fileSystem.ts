/** The files of live sandboxes as a file system of VS Code; and, under a second scheme, looks at them that cannot be changed. */
import * as l10n from '@vscode/l10n';
import { posix } from 'node:path';
import * as vscode from 'vscode';
import type { FileInfo } from '../../sandbox/provider.js';
import { RunnerError } from '../../runner/client.js';
import { Disposing } from '../dispose.js';
import { reason } from '../failure.js';
import { formatBytes } from '../format.js';
import { SandboxScheme, SandboxViewScheme } from '../ids.js';
import type { Runner } from '../runner.js';
import { refOfSandbox, type Sandboxes } from '../sandboxes.js';
import { Signal } from '../signal.js';
import type { Snapshots } from '../snapshots.js';
import type { FileRef, SandboxRef } from '../views/node.js';
import { addressOf, isAuthorityOf, readView, type SandboxView } from './address.js';
import { FileWatcher } from './fileWatcher.js';
import { readFile, TooLarge, writeFile } from './pieces.js';

/** Most bytes that an editor is given: VS Code takes a file as a whole. */
export const MOST_IN_EDITOR = 64_000_000;

export const sandboxUri = (ref: Pick<SandboxRef, 'provider' | 'id'>, path: string, view?: SandboxView): vscode.Uri => vscode.Uri.from(addressOf(ref, path, view));

export class SandboxFiles extends Disposing implements vscode.FileSystemProvider {
  private readonly changed = this.own(new vscode.EventEmitter<vscode.FileChangeEvent[]>());
  readonly onDidChangeFile = this.changed.event;
  private readonly touched = this.own(new Signal<FileRef>());
  /** Something in a folder was made, changed or removed from here. */
  readonly onDidTouch = this.touched.event;
  private readonly watcher = this.own(new FileWatcher((uri) => this.info(uri), (events) => this.changed.fire(events)));
  /** The last of the looks, which VS Code asks for the size of first. */
  private readonly looks = new Map<string, Promise<Uint8Array>>();

  constructor(
    private readonly runner: Runner,
    private readonly sandboxes: Sandboxes,
    private readonly snapshots: Pick<Snapshots, 'list'>,
  ) {
    super();
    this.own(vscode.workspace.registerFileSystemProvider(SandboxScheme, this, { isCaseSensitive: true }));
    const look: vscode.FileSystemProvider = {
      onDidChangeFile: new vscode.EventEmitter<vscode.FileChangeEvent[]>().event,
      watch: () => ({ dispose: () => undefined }),
      stat: async (uri) => ({ type: vscode.FileType.File, ctime: 0, mtime: 0, size: (await this.look(uri)).length, permissions: vscode.FilePermission.Readonly }),
      readFile: (uri) => this.look(uri),
      readDirectory: () => [],
      writeFile: readOnly,
      createDirectory: readOnly,
      delete: readOnly,
      rename: readOnly,
    };
    this.own(vscode.workspace.registerFileSystemProvider(SandboxViewScheme, look, { isCaseSensitive: true, isReadonly: true }));
  }

  /** Where a file of a sandbox is; of one that has ended, `Unavailable`. */
  async refOf(uri: vscode.Uri): Promise<SandboxRef> {
    const find = () => this.sandboxes.known().find(({ sandbox }) => sandbox.attached && isAuthorityOf(uri.authority, sandbox));
    let known = find();
    if (!known) {
      await this.sandboxes.list().catch((error: unknown) => {
        throw vscode.FileSystemError.Unavailable(reason(error));
      });
      known = find();
    }
    if (!known) throw vscode.FileSystemError.Unavailable(vscode.workspace.isTrusted ? l10n.t('the sandbox has ended') : l10n.t('this workspace is not trusted, so nothing in it is run'));
    return refOfSandbox(known);
  }

  watch(uri: vscode.Uri): vscode.Disposable {
    return this.watcher.watch(uri);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { type, link, size, modified, mode } = await this.info(uri);
    const base = type === 'directory' ? vscode.FileType.Directory : type === 'file' ? vscode.FileType.File : vscode.FileType.Unknown;
    const readonly = type === 'file' && (mode & 0o222) === 0;
    return { type: link ? base | vscode.FileType.SymbolicLink : base, ctime: modified, mtime: modified, size, ...(readonly && { permissions: vscode.FilePermission.Readonly }) };
  }

  async readDirectory(uri: vscode.Uri): Promise<[string, vscode.FileType][]> {
    const ref = await this.refOf(uri);
    const entries = await mapped(uri, this.runner.request('files/list', { root: ref.root, id: ref.id, path: uri.path }));
    return entries.map(({ name, type, link }) => {
      const base = type === 'directory' ? vscode.FileType.Directory : type === 'file' ? vscode.FileType.File : vscode.FileType.Unknown;
      return [name, link ? base | vscode.FileType.SymbolicLink : base];
    });
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const ref = await this.refOf(uri);
    const { type, size } = await this.info(uri);
    if (type === 'directory') throw vscode.FileSystemError.FileIsADirectory(uri);
    // A device or a pipe has no end.
    if (type === 'other') throw vscode.FileSystemError.Unavailable(l10n.t('it is not a file'));
    if (size > MOST_IN_EDITOR) throw tooLarge();
    return mapped(uri, readFile(this.runner, ref, uri.path, { most: MOST_IN_EDITOR }));
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array, { create, overwrite }: { create: boolean; overwrite: boolean }): Promise<void> {
    const ref = await this.refOf(uri);
    const before = await this.infoIfThere(uri);
    if (!before && !create) throw vscode.FileSystemError.FileNotFound(uri);
    if (before && create && !overwrite) throw vscode.FileSystemError.FileExists(uri);
    if (before?.type === 'directory') throw vscode.FileSystemError.FileIsADirectory(uri);
    await mapped(uri, writeFile(this.runner, ref, uri.path, content));
    this.touch(ref, [[uri, before ? vscode.FileChangeType.Changed : vscode.FileChangeType.Created]]);
  }

  async createDirectory(uri: vscode.Uri): Promise<void> {
    const ref = await this.refOf(uri);
    if (await this.infoIfThere(uri)) throw vscode.FileSystemError.FileExists(uri);
    await mapped(uri, this.runner.request('files/mkdir', { root: ref.root, id: ref.id, path: uri.path }));
    this.touch(ref, [[uri, vscode.FileChangeType.Created]]);
  }

  async delete(uri: vscode.Uri, { recursive }: { recursive: boolean }): Promise<void> {
    const ref = await this.refOf(uri);
    const { type, link } = await this.info(uri);
    if (type === 'directory' && !link && !recursive && (await this.readDirectory(uri)).length > 0) throw vscode.FileSystemError.NoPermissions(l10n.t('the folder is not empty'));
    await mapped(uri, this.runner.request('files/remove', { root: ref.root, id: ref.id, path: uri.path }));
    this.touch(ref, [[uri, vscode.FileChangeType.Deleted]]);
  }

  async rename(from: vscode.Uri, to: vscode.Uri, { overwrite }: { overwrite: boolean }): Promise<void> {
    const ref = await this.refOf(from);
    if (!isAuthorityOf(to.authority, ref)) throw vscode.FileSystemError.NoPermissions(l10n.t('a file is moved only within its sandbox; copy it instead'));
    await mapped(from, this.runner.request('files/rename', { root: ref.root, id: ref.id, from: from.path, to: to.path, overwrite }));
    this.touch(ref, [[from, vscode.FileChangeType.Deleted], [to, vscode.FileChangeType.Created]]);
  }

  /** Tells whoever shows it that something was put into a folder from here. */
  touchFolder(ref: SandboxRef, path: string): void {
    this.touched.fire({ root: ref.root, id: ref.id, provider: ref.provider, path, folder: true, size: 0 });
    this.changed.fire([{ type: vscode.FileChangeType.Changed, uri: sandboxUri(ref, path) }]);
  }

  private touch(ref: SandboxRef, changes: readonly (readonly [vscode.Uri, vscode.FileChangeType])[]): void {
    this.changed.fire(changes.map(([uri, type]) => ({ uri, type })));
    for (const folder of new Set(changes.map(([{ path }]) => posix.dirname(path)))) this.touched.fire({ ...ref, path: folder, folder: true, size: 0 });
  }

  private async info(uri: vscode.Uri): Promise<FileInfo> {
    const ref = await this.refOf(uri);
    return mapped(uri, this.runner.request('files/stat', { root: ref.root, id: ref.id, path: uri.path || '/' }));
  }

  private async infoIfThere(uri: vscode.Uri): Promise<FileInfo | undefined> {
    try {
      return await this.info(uri);
    } catch (error) {
      if (error instanceof vscode.FileSystemError && error.code === 'FileNotFound') return undefined;
      throw error;
    }
  }

  private async snapshotOf(uri: vscode.Uri): Promise<{ root: string; id: string }> {
    const known = (await mapped(uri, this.snapshots.list())).find(({ snapshot }) => snapshot.id === uri.authority);
    if (!known) throw vscode.FileSystemError.Unavailable(l10n.t('the snapshot is gone'));
    return { root: known.root, id: known.snapshot.id };
  }

  private look(uri: vscode.Uri): Promise<Uint8Array> {
    const key = uri.toString();
    const known = this.looks.get(key);
    if (known) return known;
    const looking = this.lookAgain(uri);
    this.looks.set(key, looking);
    // Its size and its content are asked for one after the other, and are to agree.
    setTimeout(() => this.looks.delete(key), LOOK_MS).unref();
    return looking;
  }

  private async lookAgain(uri: vscode.Uri): Promise<Uint8Array> {
    const view = readView(uri.query);
    if (!view) throw vscode.FileSystemError.FileNotFound(uri);
    const ref = 'snapshot' in view ? await this.snapshotOf(uri) : await this.refOf(uri);
    return mapped(uri, readFile(this.runner, ref, uri.path, { ...view, most: MOST_IN_EDITOR }));
  }
}

const LOOK_MS = 10_000;

const readOnly = (uri: vscode.Uri): never => {
  throw vscode.FileSystemError.NoPermissions(uri);
};

const tooLarge = (): vscode.FileSystemError => vscode.FileSystemError.Unavailable(l10n.t('it is larger than {0}; download it instead', formatBytes(MOST_IN_EDITOR)));

/** The runner's errors as those of a file system. */
async function mapped<T>(uri: vscode.Uri, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TooLarge) throw tooLarge();
    if (!(error instanceof RunnerError)) throw error;
    switch (error.code) {
      case 'NoSuchFile':
        throw vscode.FileSystemError.FileNotFound(uri);
      case 'FileExists':
        throw vscode.FileSystemError.FileExists(uri);
      case 'NotAFile':
      case 'IsADirectory':
        throw vscode.FileSystemError.FileIsADirectory(uri);
      case 'NotPermitted':
      case 'Untrusted':
        throw vscode.FileSystemError.NoPermissions(reason(error));
      default:
        throw vscode.FileSystemError.Unavailable(reason(error));
    }
  }
}
