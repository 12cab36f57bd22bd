/** What a run costs: said before it begins, and asked about where it is much. */
import { createInterface } from 'node:readline/promises';
import { InvalidArgumentError, Option } from 'commander';
import type { CostEstimate } from '../engine/reports.js';
import { UsageError } from './failure.js';
import { milliseconds, plural } from './format.js';
import type { Session } from './session.js';

/** Dollars above which a person is asked. */
const ASK_ABOVE = 1;

export interface CostOptions {
  readonly maxCost?: number;
  readonly yes?: boolean;
}

export const maxCostOption = (): Option =>
  new Option('--max-cost <dollars>', 'end the run when its sandboxes have cost that much, at a provider that bills').argParser((text) => {
    const value = Number(text.replace(/^\$/, ''));
    if (!(value > 0 && Number.isFinite(value))) throw new InvalidArgumentError('expected dollars above 0, such as 1.50.');
    return value;
  });
export const yesOption = (): Option => new Option('-y, --yes', 'do not ask about what the run may cost');

/** `$0.12`; as many places as show something below a cent. */
export const money = (dollars: number): string => `$${dollars === 0 || dollars >= 0.01 ? dollars.toFixed(2) : dollars.toPrecision(2)}`;

/** `$0.12 of $1.00`. */
export const spending = (spent: number, cap: number | undefined): string => (cap === undefined ? money(spent) : `${money(spent)} of ${money(cap)}`);

function estimateText({ title, dollars, unknown, episodes, secondsEach, previous, perHour, asOf, maxCost, keepWarmMs }: CostEstimate): string {
  const each = `${plural(episodes, 'episode')} of ${milliseconds(secondsEach * 1000)} ${previous === undefined ? 'at most, their timeout' : `as in run #${previous}`}`;
  const sum = dollars === null ? `What the run costs at ${title} is not known: ${unknown}` : `The run costs ${previous === undefined ? 'up to' : 'about'} ${money(dollars)} at ${title}: ${each}, ${money(perHour!)} an hour for a sandbox (prices of ${asOf})`;
  const warm = keepWarmMs === undefined ? '' : ` A sandbox that is kept warm is billed until it ends, after ${milliseconds(keepWarmMs)} at most unless it is extended.`;
  return `${sum}.${warm} ${maxCost === undefined ? 'No cap (`--max-cost`).' : `It ends at ${money(maxCost)}.`}`;
}

/** Says what a run is likely to cost; on a terminal a person may refuse what is more than `RL_SANDBOXES_ASK_ABOVE` dollars. True where nothing is billed. */
export async function mayCost(session: Session, estimate: CostEstimate | null, { yes }: CostOptions): Promise<boolean> {
  if (!estimate) return true;
  session.note(estimateText(estimate));
  const most = Math.min(estimate.dollars ?? Infinity, estimate.maxCost ?? Infinity);
  if (yes || most <= askAbove() || !process.stdin.isTTY || !process.stderr.isTTY) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question('Start it? [y/N] ', { signal: session.signal })).trim());
  } finally {
    terminal.close();
  }
}

function askAbove(): number {
  const text = process.env.RL_SANDBOXES_ASK_ABOVE;
  if (!text) return ASK_ABOVE;
  const value = Number(text);
  if (!(value >= 0)) throw new UsageError(`RL_SANDBOXES_ASK_ABOVE is "${text}", which is no amount of dollars`);
  return value;
}
