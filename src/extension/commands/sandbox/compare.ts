/** Compare with Template: what is other in a sandbox than in the snapshot that it was restored from, file by file, in VS Code's diff editor. */
import * as l10n from '@vscode/l10n';
import type { FileChange } from '../../../sandbox/provider.js';
import { Commands } from '../../ids.js';
import { withCancellableProgress } from '../../progress.js';
import { sandboxUri } from '../../sandbox/fileSystem.js';
import type { Services } from '../../services.js';
import type { SandboxRef } from '../../views/node.js';
import { showChanges } from '../changes.js';
import { nameOf, sandboxTarget } from './targets.js';

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
  return showChanges(files, {
    name,
    title: l10n.t('{0}: changes to its template', name),
    before: (path) => sandboxUri(ref, path, { original: true }),
    after: (path) => sandboxUri(ref, path),
  });
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
