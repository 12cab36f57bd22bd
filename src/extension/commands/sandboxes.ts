/** End sandboxes and snapshots. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { nothing } from '../commander.js';
import { Failure } from '../failure.js';
import { Commands } from '../ids.js';
import { withCancellableProgress } from '../progress.js';
import { tellQuietly } from '../quiet.js';
import type { KnownSandbox } from '../sandboxes.js';
import type { Services } from '../services.js';
import type { SnapshotRef } from '../views/node.js';
import { sandboxOf, snapshotOf } from './targets.js';

/** Sandboxes ended at a time. */
const AT_ONCE = 8;

export function registerSandboxCommands(services: Services): void {
  const { commander, runner } = services;
  commander.register(Commands.terminateSandbox, {
    target: (argument) => sandboxOf(argument) ?? pickSandbox(services),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to terminate {0}: {1}', ref?.id ?? l10n.t('the sandbox'), why),
    run: (ref) => runner.request('sandbox/terminate', ref),
  });
  commander.register(Commands.terminateAllSandboxes, {
    target: nothing,
    needsTrust: true,
    failed: (why) => l10n.t('Failed to terminate all sandboxes: {0}', why),
    run: () => terminateAll(services),
  });
  commander.register(Commands.deleteSnapshot, {
    target: (argument) => snapshotOf(argument) ?? pickSnapshot(services),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to delete snapshot {0}: {1}', ref?.name ?? '', why),
    run: (ref) => deleteSnapshot(services, ref),
  });
}

async function pickSandbox({ sandboxes }: Services): Promise<{ root: string; id: string; provider: string } | undefined> {
  const list = await sandboxes.list();
  if (list.length === 0) throw new Failure(l10n.t('no sandbox is live'));
  const items = list.map(({ root, sandbox }) => ({ label: sandbox.id, description: sandbox.provider, ref: { root, id: sandbox.id, provider: sandbox.provider } }));
  return (await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which sandbox?') }))?.ref;
}

async function pickSnapshot({ templates }: Services): Promise<SnapshotRef | undefined> {
  const items = (await templates.list()).flatMap(({ ref, status }) =>
    (status?.snapshots ?? []).map((snapshot) => ({ label: `${snapshot.template} ${snapshot.id}`, description: snapshot.provider, ref: { root: ref.root, id: snapshot.id, name: snapshot.id } })),
  );
  if (items.length === 0) throw new Failure(l10n.t('there are no snapshots'));
  return (await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which snapshot?') }))?.ref;
}

async function terminateAll({ sandboxes, runner }: Services): Promise<void> {
  const list = await sandboxes.list();
  if (list.length === 0) return tellQuietly(l10n.t('No sandbox is live'));
  const terminate = l10n.t('Terminate All');
  const detail = l10n.t('Episodes that run in them are lost; what is finished is kept.');
  if ((await vscode.window.showWarningMessage(l10n.t('Terminate all {0} sandboxes?', list.length), { modal: true, detail }, terminate)) !== terminate) return;
  const waiting = [...list];
  const failures: unknown[] = [];
  await withCancellableProgress(l10n.t('Terminating sandboxes'), async (signal, report) => {
    const worker = async () => {
      for (let next: KnownSandbox | undefined; !signal.aborted && (next = waiting.pop()); report({ fraction: 1 - waiting.length / list.length })) {
        const { root, sandbox } = next;
        await runner.request('sandbox/terminate', { root, provider: sandbox.provider, id: sandbox.id }, { signal }).catch((error: unknown) => failures.push(error));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    signal.throwIfAborted();
  });
  if (failures.length > 0) throw failures[0];
}

async function deleteSnapshot({ runner }: Services, ref: SnapshotRef): Promise<void> {
  const remove = l10n.t('Delete');
  const detail = l10n.t('The next run that needs it builds it again.');
  if ((await vscode.window.showWarningMessage(l10n.t('Delete snapshot {0}?', ref.name), { modal: true, detail }, remove)) !== remove) return;
  await runner.request('snapshot/delete', { root: ref.root, id: ref.id });
}
