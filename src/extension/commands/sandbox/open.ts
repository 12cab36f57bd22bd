/** Open Sandbox: from a template, which is built if it must be, or from a snapshot; and forks of one that lives. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Failure } from '../../failure.js';
import { Commands } from '../../ids.js';
import { withCancellableProgress } from '../../progress.js';
import type { Services } from '../../services.js';
import { defaultProvider } from '../../settings.js';
import type { SandboxReport } from '../../../runner/sandboxApi.js';
import type { SandboxRef, SnapshotRef, TemplateRef } from '../../views/node.js';
import { snapshotLabel } from '../../views/snapshotNodes.js';
import { isTemplateRef, snapshotOf, templateName, templateTarget } from '../targets.js';
import { nameOf, sandboxTarget } from './targets.js';

type Source = { readonly template: TemplateRef } | { readonly snapshot: SnapshotRef };

const sourceName = (source: Source | undefined): string => (!source ? l10n.t('a sandbox') : 'template' in source ? templateName(source.template) : source.snapshot.name);

export function registerOpenCommands(services: Services): void {
  const { commander, runner } = services;
  commander.register(Commands.openSandbox, {
    target: (argument) => sourceOf(services, argument),
    needsTrust: true,
    failed: (why, source) => l10n.t('Failed to open a sandbox of {0}: {1}', sourceName(source), why),
    run: (source) => open(services, source),
  });
  commander.register(Commands.forkSandbox, {
    target: (argument) => sandboxTarget(services, argument),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to fork {0}: {1}', nameOf(services, ref), why),
    run: async (ref) => show(services, ref.root, l10n.t('Forking {0}', nameOf(services, ref)), (signal) => runner.request('sandbox/fork', { root: ref.root, id: ref.id }, { signal })),
  });
}

interface SourceItem extends vscode.QuickPickItem {
  readonly source?: Source;
}

async function sourceOf(services: Services, argument: unknown): Promise<Source | undefined> {
  const snapshot = snapshotOf(argument);
  if (snapshot) return { snapshot };
  if (argument !== undefined && (isTemplateRef(argument) || argument instanceof vscode.Uri)) return wrap(await templateTarget(services, argument));
  // From the palette or the view's title: the templates, then the snapshots.
  if (typeof argument === 'object' && argument !== null && 'node' in argument) return wrap(await templateTarget(services, argument));
  const templates = (await services.templates.list()).map(({ ref, status }): SourceItem => ({ label: status?.name ?? templateName(ref), description: vscode.workspace.asRelativePath(ref.file), source: { template: ref } }));
  const snapshots = (await services.snapshots.list()).map(({ root, snapshot }): SourceItem => {
    const label = snapshotLabel(snapshot);
    return { label: `${snapshot.template}  ${label}`, description: snapshot.provider, source: { snapshot: { root, id: snapshot.id, name: label } } };
  });
  if (templates.length + snapshots.length === 0) throw new Failure(l10n.t('there is no template (*.rlenv.yaml) in this workspace'), { title: l10n.t('New Environment'), command: Commands.newEnvironment });
  const heading = (label: string): SourceItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const items = [heading(l10n.t('Templates')), ...templates, heading(l10n.t('Snapshots')), ...snapshots];
  const picked = await vscode.window.showQuickPick(items, { placeHolder: l10n.t('A sandbox of what?'), matchOnDescription: true });
  return picked?.source;
}

const wrap = (template: TemplateRef | undefined): Source | undefined => template && { template };

async function open(services: Services, source: Source): Promise<SandboxRef | undefined> {
  // What is built is what lies on disk.
  if ('template' in source && !(await vscode.workspace.saveAll(false))) return undefined;
  const params = 'template' in source ? { ...source.template, provider: defaultProvider(source.template.file) } : { root: source.snapshot.root, snapshot: source.snapshot.id };
  return show(services, params.root, l10n.t('Opening a sandbox of {0}', sourceName(source)), (signal) => services.runner.request('sandbox/open', params, { signal }));
}

/** The view shows what has come of it; the answer is for whoever called the command. */
async function show({ sandboxes }: Services, root: string, title: string, request: (signal: AbortSignal) => Promise<SandboxReport>): Promise<SandboxRef | undefined> {
  const outcome = await withCancellableProgress(title, request);
  if (outcome.cancelled) return undefined;
  const sandbox = outcome.value;
  sandboxes.took(root, sandbox);
  return { root, id: sandbox.id, provider: sandbox.provider };
}
