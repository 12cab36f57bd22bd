/** Compares the traces of two episodes, or of two files: what the caller passed, and what a person picks for the rest. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { TraceRef } from '../../protocol/traceView.js';
import { Commands } from '../ids.js';
import { traceFile } from '../panels/traceViews.js';
import type { Services } from '../services.js';
import { pickOtherEpisode } from '../pickEpisode.js';
import { episodeOf, isEpisodeRef } from './targets.js';
import { type TraceTarget, traceTarget } from './traces.js';

export function registerCompareTracesCommand(services: Services): void {
  services.commander.register(Commands.compareTraces, {
    target: (argument, [other]) => pairTarget(services, argument, other),
    failed: (why) => l10n.t('Failed to compare traces: {0}', why),
    run: (pair) => Promise.resolve(services.traceDiffs.open(pair)),
  });
}

const refOf = (target: TraceTarget): TraceRef => ('file' in target ? { file: target.file } : { file: traceFile(target.episode) });

const isSame = (one: unknown, other: unknown): boolean => one === other || (one instanceof vscode.Uri && other instanceof vscode.Uri && one.toString() === other.toString());

async function pairTarget(services: Services, argument: unknown, other: unknown): Promise<{ a: TraceRef; b: TraceRef } | undefined> {
  // A tree and the explorer pass all that is selected after the item that was clicked.
  const more = Array.isArray(other) ? (other as unknown[]).find((item) => !isSame(item, argument)) : other;
  // The title of a panel passes an address of its own, which is no file.
  const inFront = services.traceViews.activeFile;
  const named = isEpisodeRef(argument) || episodeOf(argument) !== undefined || (argument instanceof vscode.Uri && argument.scheme === 'file');
  const one = named || inFront === undefined ? await traceTarget(services, named ? argument : undefined) : { file: inFront };
  if (!one) return undefined;
  const two = isEpisodeRef(more) || episodeOf(more) || more instanceof vscode.Uri ? await traceTarget(services, more) : await pickOther(services, one);
  return two && { a: refOf(one), b: refOf(two) };
}

/** Another episode of the same run, or whatever else a person picks. */
async function pickOther(services: Services, one: TraceTarget): Promise<TraceTarget | undefined> {
  if ('file' in one) return traceTarget(services, undefined, l10n.t('Compare it with which trace?'));
  const sameRun = l10n.t('Another episode of the same run');
  const another = l10n.t('Another trace');
  const chosen = await vscode.window.showQuickPick([sameRun, another], { placeHolder: l10n.t('Compare episode {0} with which trace?', one.episode.episode) });
  if (chosen === another) return traceTarget(services, undefined, l10n.t('Compare it with which trace?'));
  if (chosen !== sameRun) return undefined;
  const episode = await pickOtherEpisode(services.runner, one.episode);
  return episode && { episode };
}
