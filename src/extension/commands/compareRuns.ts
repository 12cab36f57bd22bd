/** Compares two runs: the two that are selected in the tree, or one with another that a person picks. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Failure } from '../failure.js';
import { formatAgo } from '../format.js';
import { Commands } from '../ids.js';
import type { RunPair } from '../panels/compareMessages.js';
import type { Services } from '../services.js';
import type { RunRef } from '../views/node.js';
import { describeRun } from '../views/runNodes.js';
import { nodeOf, runLabel, runTarget } from './targets.js';

export function registerCompareRunsCommand(services: Services): void {
  services.commander.register(Commands.compareRuns, {
    target: (argument, [selected]) => pairTarget(services, argument, selected),
    failed: (why) => l10n.t('Failed to compare runs: {0}', why),
    run: (pair) => Promise.resolve(services.compareViews.open(pair)),
  });
}

/** The older run is a: what came of it is what the other is held against. */
async function pairTarget(services: Services, argument: unknown, selected: unknown): Promise<RunPair | undefined> {
  const chosen = (Array.isArray(selected) ? selected : []).map((item) => nodeOf(item)?.run).filter((run) => run !== undefined);
  const distinct = [...new Map(chosen.map((run) => [`${run.root}\n${run.id}`, run])).values()];
  if (distinct.length > 2) throw new Failure(l10n.t('two runs can be compared, not {0}', distinct.length));
  const one = distinct.length === 2 ? distinct[0]! : await runTarget(services, argument);
  const other = distinct.length === 2 ? distinct[1] : one && (await pickOther(services, one));
  if (!one || !other) return undefined;
  if (one.root !== other.root) throw new Failure(l10n.t('the two runs are of different folders of the workspace'));
  const number = async (ref: RunRef) => (await services.runs.fetch(ref)).run.number;
  const [a, b] = (await number(one)) < (await number(other)) ? [one, other] : [other, one];
  return { root: one.root, a: a.id, b: b.id };
}

/** Another run of the same folder; those of the same template come first. */
async function pickOther({ runs }: Services, one: RunRef): Promise<RunRef | undefined> {
  const { run } = await runs.fetch(one);
  const others = (await runs.list()).filter(({ root, summary }) => root === one.root && summary.run.id !== one.id);
  if (others.length === 0) throw new Failure(l10n.t('there is no other run to compare {0} with', runLabel({ run })));
  const ranked = [...others.filter(({ summary }) => summary.run.file === run.file), ...others.filter(({ summary }) => summary.run.file !== run.file)];
  const now = Date.now();
  const items = ranked.map(({ summary }) => ({ label: runLabel(summary), description: describeRun(summary), detail: formatAgo(summary.run.createdAt, now), ref: { root: one.root, id: summary.run.id } }));
  return (await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Compare {0} with which run?', runLabel({ run })), matchOnDescription: true }))?.ref;
}
