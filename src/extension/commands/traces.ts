/** Opens traces: of an episode, of a file, behind a link; and passes on the keys that VS Code would take for itself. */
import * as l10n from '@vscode/l10n';
import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { Failure } from '../failure.js';
import { Commands } from '../ids.js';
import { inWorkspace } from '../panels/traceViews.js';
import { roots } from '../roots.js';
import type { Services } from '../services.js';
import { readLink, type TraceLink } from '../traceLink.js';
import type { EpisodeRef } from '../views/node.js';
import { episodeOf, isEpisodeRef, runLabel, runTarget } from './targets.js';

export type TraceTarget = { readonly episode: EpisodeRef } | { readonly file: string };

export function registerTraceCommands(services: Services): vscode.Disposable {
  const { commander, traceViews } = services;
  commander.register(Commands.openTrace, {
    target: (argument) => traceTarget(services, argument),
    failed: (why) => l10n.t('Failed to open the trace: {0}', why),
    run: (target) => openTrace(services, target),
  });
  const there = () => true;
  const failed = (why: string) => l10n.t('Failed to step: {0}', why);
  commander.register(Commands.traceStepOver, { target: there, failed, run: () => Promise.resolve(traceViews.command('stepOver')) });
  commander.register(Commands.traceStepBack, { target: there, failed, run: () => Promise.resolve(traceViews.command('stepBack')) });
  commander.register(Commands.traceStepInto, { target: there, failed, run: () => Promise.resolve(traceViews.command('stepInto')) });
  commander.register(Commands.traceStepOut, { target: there, failed, run: () => Promise.resolve(traceViews.command('stepOut')) });
  commander.register(Commands.traceSearch, { target: there, failed: (why) => l10n.t('Failed to search: {0}', why), run: () => Promise.resolve(traceViews.command('search')) });
  return vscode.window.registerUriHandler({
    handleUri: ({ path, query }) =>
      openLink(services, path, query).catch((error: unknown) => commander.report(error, (why) => l10n.t('Failed to open the link: {0}', why))),
  });
}

export async function traceTarget(services: Services, argument: unknown, question = l10n.t('Which trace?')): Promise<TraceTarget | undefined> {
  if (isEpisodeRef(argument)) return { episode: argument };
  const episode = episodeOf(argument);
  if (episode) return { episode };
  if (argument instanceof vscode.Uri) return { file: onDisk(argument) };
  const active = vscode.window.activeTextEditor?.document.uri;
  if (active?.scheme === 'file' && /\.(jsonl|json|traj|eval)$/.test(active.path)) return { file: active.fsPath };
  const ofRun = l10n.t('An episode of a run');
  const ofFile = l10n.t('A trace file');
  const chosen = await vscode.window.showQuickPick([ofRun, ofFile], { placeHolder: question });
  if (chosen === ofFile) {
    const [file] = (await vscode.window.showOpenDialog({ canSelectMany: false, openLabel: l10n.t('Open Trace'), filters: { [l10n.t('Traces')]: ['jsonl', 'json', 'traj', 'eval'], [l10n.t('All files')]: ['*'] } })) ?? [];
    return file && { file: onDisk(file) };
  }
  const picked = chosen === ofRun ? await pickEpisode(services) : undefined;
  return picked && { episode: picked };
}

/** An episode of a run, by its number. */
export async function pickEpisode(services: Services): Promise<EpisodeRef | undefined> {
  const ref = await runTarget(services, undefined);
  if (!ref) return undefined;
  const { run } = await services.runs.fetch(ref);
  const number = await vscode.window.showInputBox({
    prompt: l10n.t('Which episode, from 0 to {0}?', run.total - 1),
    value: '0',
    validateInput: (text) => (/^\d+$/.test(text) && Number(text) < run.total ? undefined : l10n.t('A whole number from 0 to {0}', run.total - 1)),
  });
  return number === undefined ? undefined : { ...ref, episode: Number(number) };
}

async function openTrace({ traceViews, runs }: Services, target: TraceTarget): Promise<void> {
  if ('file' in target) return traceViews.openFile(target);
  const { root, id, episode } = target.episode;
  const label = runLabel(runs.get({ root, id }) ?? (await runs.fetch({ root, id })));
  traceViews.openEpisode(target.episode, l10n.t('{0}, episode {1}', label, episode));
}

/** Opens what a link names. It may come from anywhere: a file outside of the workspace is opened only if a person agrees. */
async function openLink({ traceViews }: Services, path: string, query: string): Promise<void> {
  const links = readLink(path, query, roots().map((root) => root.path));
  const link = await firstThatExists(links);
  if (!link) throw new Failure(links[0] ? l10n.t('there is no {0} in this workspace', basename(links[0].file)) : l10n.t('it is not a link to a trace of this workspace'));
  if (!(await inWorkspace(link.file))) {
    const open = l10n.t('Open');
    if ((await vscode.window.showWarningMessage(l10n.t('A link asks to open a file outside of this workspace as a trace.'), { modal: true, detail: link.file }, open)) !== open) return;
  }
  await traceViews.openFile(link, link.step === undefined ? {} : { step: link.step });
}

async function firstThatExists(links: readonly TraceLink[]): Promise<TraceLink | undefined> {
  for (const link of links) if (await access(link.file).then(() => true, () => false)) return link;
  return undefined;
}

function onDisk(uri: vscode.Uri): string {
  if (uri.scheme !== 'file') throw new Failure(l10n.t('the file must be on disk'));
  return uri.fsPath;
}
