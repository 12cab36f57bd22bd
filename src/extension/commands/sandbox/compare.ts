/** Compare with Template: what is other in a sandbox than in the snapshot that it was restored from, file by file, in VS Code's diff editor. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { FileChange } from '../../../sandbox/provider.js';
import { oneLine } from '../../format.js';
import { Commands } from '../../ids.js';
import { withCancellableProgress } from '../../progress.js';
import { tellQuietly } from '../../quiet.js';
import { sandboxUri } from '../../sandbox/fileSystem.js';
import type { Services } from '../../services.js';
import type { SandboxRef } from '../../views/node.js';
import { nameOf, sandboxTarget } from './targets.js';

/** More files than these at once are too many to read; a person picks then. */
const MOST_AT_ONCE = 50;
const ICONS: Readonly<Record<FileChange['kind'], string>> = { added: 'diff-added', modified: 'diff-modified', removed: 'diff-removed' };

export function registerCompareCommand(services: Services): void {
  services.commander.register(Commands.compareSandbox, {
    target: (argument) => sandboxTarget(services, argument),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to compare {0} with its template: {1}', nameOf(services, ref), why),
    run: (ref) => compare(services, ref),
  });
}

async function compare(services: Services, ref: SandboxRef): Promise<readonly FileChange[] | undefined> {
  const { runner } = services;
  const { root, id } = ref;
  const name = nameOf(services, ref);
  const outcome = await withCancellableProgress(l10n.t('Comparing {0} with its template', name), async (signal) => {
    const changes = await runner.request('sandbox/changes', { root, id }, { signal });
    return Promise.all(changes.slice(0, MOST_LOOKED_AT).map(async (change) => ({ change, folder: await isFolder(services, ref, change, signal) })));
  });
  if (outcome.cancelled) return undefined;
  // A folder has no text; what is in it is listed too, but for one that is gone.
  const files = outcome.value.filter(({ folder }) => !folder).map(({ change }) => change);
  if (files.length === 0) {
    tellQuietly(l10n.t('{0}: no file has changed', name));
    return [];
  }
  const chosen = files.length > MOST_AT_ONCE ? await pick(files, name) : files;
  if (!chosen?.length) return undefined;
  const title = l10n.t('{0}: changes to its template', name);
  const [only] = chosen;
  if (chosen.length === 1 && only!.kind === 'modified') {
    const [uri, original, modified] = sides(ref, only!);
    await vscode.commands.executeCommand('vscode.diff', original, modified, l10n.t('{0} ({1})', oneLine(uri.path), name));
  } else {
    await vscode.commands.executeCommand('vscode.changes', title, chosen.map((change) => sides(ref, change)));
  }
  return chosen;
}

/** Looking at each of tens of thousands to see whether it is a folder would take longer than anybody waits. */
const MOST_LOOKED_AT = 2000;

async function isFolder({ runner }: Services, { root, id }: SandboxRef, { path, kind }: FileChange, signal: AbortSignal): Promise<boolean> {
  if (kind !== 'added') return false;
  try {
    return (await runner.request('files/stat', { root, id, path }, { signal })).type !== 'file';
  } catch {
    signal.throwIfAborted();
    // It is gone again.
    return true;
  }
}

/** Its name, how the snapshot has it, how the sandbox has it. */
function sides(ref: SandboxRef, { path, kind }: FileChange): [vscode.Uri, vscode.Uri | undefined, vscode.Uri | undefined] {
  const now = sandboxUri(ref, path);
  return [now, kind === 'added' ? undefined : sandboxUri(ref, path, { original: true }), kind === 'removed' ? undefined : now];
}

async function pick(files: readonly FileChange[], name: string): Promise<readonly FileChange[] | undefined> {
  const items = files.map((change, index) => ({ label: `$(${ICONS[change.kind]}) ${oneLine(change.path, 200)}`, picked: index < MOST_AT_ONCE, change }));
  const picked = await vscode.window.showQuickPick(items, { canPickMany: true, title: l10n.t('{0}: {1} files changed', name, files.length), placeHolder: l10n.t('Which of them shall be compared?') });
  return picked?.map(({ change }) => change);
}
