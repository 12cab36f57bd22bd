/** Asks before a run that may cost more than a person has set. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { CostEstimate } from '../runner/api.js';
import type { RunRecord } from '../store/records.js';
import { formatDollars, formatDuration, oneLine } from './format.js';
import { askAbove } from './settings.js';

/** True where nothing is billed, where it is little, or where a person starts it all the same. */
export async function mayCost(estimate: CostEstimate | null): Promise<boolean> {
  if (!estimate) return true;
  const { title, dollars, maxCost } = estimate;
  if (Math.min(dollars ?? Infinity, maxCost ?? Infinity) <= askAbove()) return true;
  const start = l10n.t('Start');
  const question = dollars === null ? l10n.t('Start a run at {0}, whose cost is not known?', title) : l10n.t('Start a run at {0} that may cost {1}?', title, formatDollars(dollars));
  return (await vscode.window.showWarningMessage(question, { modal: true, detail: detailOf(estimate) }, start)) === start;
}

/** Dollars that a run may cost which has come to its cap and is to go on; undefined where it has not. */
export async function higherCap({ cost, maxCost }: Pick<RunRecord, 'cost' | 'maxCost'>): Promise<number | undefined | 'cancelled'> {
  if (!cost || maxCost === undefined || cost.spent < maxCost) return undefined;
  const spent = formatDollars(cost.spent);
  const answer = await vscode.window.showInputBox({
    title: l10n.t('Resume Run'),
    prompt: l10n.t('The run has cost {0} of the {1} that it may. How many dollars may it cost in all?', spent, formatDollars(maxCost)),
    value: String(Number((cost.spent + maxCost).toPrecision(3))),
    validateInput: (text) => (Number(text) > cost.spent && Number.isFinite(Number(text)) ? undefined : l10n.t('Expected dollars above {0}, such as 1.50.', spent)),
  });
  return answer === undefined ? 'cancelled' : Number(answer);
}

function detailOf({ dollars, unknown, episodes, secondsEach, previous, perHour, asOf, maxCost, keepWarmMs }: CostEstimate): string {
  const each = formatDuration(secondsEach * 1000);
  return [
    dollars === null ? oneLine(unknown ?? '') : l10n.t('{0} an hour for a sandbox, by the prices of {1}.', formatDollars(perHour!), asOf),
    previous === undefined ? l10n.t('{0} episodes of {1} at most, their timeout.', episodes, each) : l10n.t('{0} episodes of {1} each, as in run #{2}.', episodes, each, previous),
    ...(keepWarmMs === undefined ? [] : [l10n.t('A sandbox that is kept warm is billed until it ends, after {0} at most unless it is extended.', formatDuration(keepWarmMs))]),
    maxCost === undefined ? l10n.t('There is no cap: `max_cost` in the template sets one.') : l10n.t('The run ends when it has cost {0}.', formatDollars(maxCost)),
  ].join('\n');
}
