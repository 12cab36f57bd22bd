/** What a command acts on: what the caller passed (an item, a file, a reference), else what is open, else what a person picks. */
import * as l10n from '@vscode/l10n';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { RunSummary } from '../../runner/api.js';
import { Failure } from '../failure.js';
import { formatAgo, oneLine } from '../format.js';
import { Commands, isTemplateName } from '../ids.js';
import { noFolder, rootOf, roots } from '../roots.js';
import type { Services } from '../services.js';
import type { EpisodeRef, Node, RunRef, SnapshotRef, TemplateRef } from '../views/node.js';
import { describeRun } from '../views/runNodes.js';

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields | undefined => (typeof value === 'object' && value !== null ? (value as Fields) : undefined);

/** The node of a tree item; it may be gone from the tree by now. */
export const nodeOf = (argument: unknown): Partial<Node> | undefined => fields(fields(argument)?.node);

export function isRunRef(value: unknown): value is RunRef {
  const ref = fields(value);
  return typeof ref?.root === 'string' && typeof ref.id === 'string';
}

export const isEpisodeRef = (value: unknown): value is EpisodeRef => isRunRef(value) && Number.isSafeInteger((value as Partial<EpisodeRef>).episode);

export function isTemplateRef(value: unknown): value is TemplateRef {
  const ref = fields(value);
  return typeof ref?.root === 'string' && typeof ref.file === 'string';
}

export const snapshotOf = (argument: unknown): SnapshotRef | undefined => nodeOf(argument)?.snapshot;
export const episodeOf = (argument: unknown): EpisodeRef | undefined => nodeOf(argument)?.episode;

/** Name of a template for a sentence: its file without the ending. */
export const templateName = (ref: TemplateRef | undefined): string => (ref ? basename(ref.file).replace(/\.rlenv\.yaml$/, '') : l10n.t('the environment'));

export const runName = ({ runs }: Services, ref: RunRef | undefined): string => {
  const summary = ref && runs.get(ref);
  return summary ? runLabel(summary) : l10n.t('the run');
};

export const runLabel = ({ run }: Pick<RunSummary, 'run'>): string => oneLine(`${run.template} #${run.number}`, 80);

/** Rejects with `Failure` where there is no template to act on. */
export async function templateTarget({ templates }: Services, argument: unknown): Promise<TemplateRef | undefined> {
  if (isTemplateRef(argument)) return argument;
  const node = nodeOf(argument);
  if (node?.template) return node.template;
  const file = argument instanceof vscode.Uri ? argument : activeTemplate();
  if (file) {
    if (file.scheme !== 'file') throw new Failure(l10n.t('the file is not on disk; save it in a folder of the workspace first'));
    return { root: rootOf(file.fsPath), file: file.fsPath };
  }
  if (roots().length === 0) throw noFolder();
  const known = await templates.list();
  if (known.length === 0) throw new Failure(l10n.t('there is no template (*.rlenv.yaml) in this workspace'), { title: l10n.t('New Environment'), command: Commands.newEnvironment });
  if (known.length === 1) return known[0]!.ref;
  const items = known.map(({ ref, status }) => ({ label: status?.name ?? templateName(ref), description: vscode.workspace.asRelativePath(ref.file), ref }));
  return (await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which template?'), matchOnDescription: true }))?.ref;
}

function activeTemplate(): vscode.Uri | undefined {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri && isTemplateName(uri.path) ? uri : undefined;
}

/** `fits` says which runs the command is for; a run that a caller passed is taken as it is. */
export async function runTarget({ runs }: Services, argument: unknown, fits: (summary: RunSummary) => boolean = () => true): Promise<RunRef | undefined> {
  const passed = nodeOf(argument)?.run;
  if (passed) return passed;
  if (isRunRef(argument)) return { root: argument.root, id: argument.id };
  if (roots().length === 0) throw noFolder();
  const known = (await runs.list()).filter(({ summary }) => fits(summary));
  if (known.length === 0) throw new Failure(l10n.t('there is no such run'));
  if (known.length === 1) return refOf(known[0]!);
  const now = Date.now();
  const items = known.map((run) => ({ label: runLabel(run.summary), description: describeRun(run.summary), detail: formatAgo(run.summary.run.createdAt, now), ref: refOf(run) }));
  return (await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which run?'), matchOnDescription: true }))?.ref;
}

const refOf = ({ root, summary }: { root: string; summary: RunSummary }): RunRef => ({ root, id: summary.run.id });
