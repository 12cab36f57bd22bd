/** The table at the end of a run, and the same as data. */
import { relative } from 'node:path';
import { findingText } from '../engine/findings.js';
import type { RunSnapshot } from '../protocol/runView.js';
import { seedCount } from '../template/template.js';
import { spending } from './cost.js';
import { NONE, columns, milliseconds, plural, reward } from './format.js';
import { oneLine } from './plain.js';

const GROUPS_SHOWN = 8;

export function runReport(snapshot: RunSnapshot, directory: string): string {
  const { run, counts, stats, finished, time } = snapshot;
  const statuses = Object.entries(counts).filter(([, count]) => count > 0);
  const missing = run.total - finished;
  const each = (sum: number) => (finished ? milliseconds(sum / finished) : NONE);
  const build = !run.snapshot ? NONE : run.snapshot.built ? `built in ${milliseconds(run.snapshot.buildMs)}` : 'nothing to build: it was there';
  const rows: [string, string][] = [
    ['run', `${run.template} #${run.number}  ${run.provider}  ${plural(seedCount(run.seeds), 'seed')} x ${run.samples}, ${run.concurrency} at once${run.policy === 'script' ? '' : `  policy ${run.policy}`}  ${run.state}`],
    ...(run.fork ? [['forked from', `${run.fork.run === undefined ? run.fork.trace : `run ${run.fork.run}`}, episode ${run.fork.episode}, after step ${run.fork.step}`] as [string, string]] : []),
    ['snapshot', run.snapshot ? `${run.snapshot.id}  ${build}` : NONE],
    ['episodes', [...statuses.map(([status, count]) => `${count} ${status}`), ...(missing ? [`${missing} not run`] : [])].join('  ') || NONE],
    ['mean', `${reward(stats.mean)} ± ${reward(stats.ci95)} (95 %)   std ${reward(stats.std)}`],
    ['range', `min ${reward(stats.min)}   median ${reward(stats.median)}   max ${reward(stats.max)}`],
    ['rewards', `${stats.scored} scored   ${stats.unscored} without reward`],
    ...groupRows(snapshot),
    ['speed', `${snapshot.episodesPerSecond === null ? NONE : snapshot.episodesPerSecond.toFixed(1)} episodes/s   ${milliseconds(snapshot.durationMs)} in all`],
    ['per episode', `restore ${each(time.restore)}   act ${each(time.act)}   score ${each(time.score)}   tear down ${each(time.terminate)}`],
    ...costRow(run),
    ['stored in', relative(process.cwd(), directory) || directory],
  ];
  const failures = snapshot.failures.slice(0, GROUPS_SHOWN).map((group) => `  ${group.count} x ${oneLine(group.example)}`);
  return [
    columns(rows),
    ...(failures.length ? [`without a reward, or not completed:`, ...failures] : []),
    ...snapshot.findings.map((finding) => `finding: ${oneLine(findingText(finding))}`),
    ...(run.error ? [`the run stopped: ${oneLine(run.error, 500)}`] : []),
    ...(missing && run.state !== 'running' ? [`go on with: rl-sandboxes resume ${run.id}${run.stopped?.by === 'max_cost' ? ' --max-cost DOLLARS' : ''}`] : []),
  ].join('\n');
}

function costRow({ cost, costUnknown, maxCost }: RunSnapshot['run']): [string, string][] {
  if (costUnknown !== undefined) return [['cost', `not known: ${oneLine(costUnknown)}`]];
  return cost ? [['cost', `${spending(cost.spent, maxCost)}   by the price table: the service's bill counts`]] : [];
}

/** pass@k and what a trainer that compares samples would learn from; nothing where each seed has one sample. */
function groupRows({ groups }: RunSnapshot): [string, string][] {
  if (!groups) return [];
  const { passAtK, seeds, threshold, compared, withoutSignal } = groups;
  const share = (value: number) => `${(100 * value).toFixed(1)} %`;
  const figures = passAtK.map(({ k, value, ci95, seeds: of }) => {
    if (value === null) return `${k}: ${NONE}`;
    return `${k}: ${share(value)}${ci95 ? ` (${share(ci95.low)} to ${share(ci95.high)})` : ''}${of < seeds ? ` of ${plural(of, 'seed')}` : ''}`;
  });
  return [
    ['pass@k', `${figures.join('   ')}   (95 %, over ${plural(seeds, 'seed')}; solved from ${threshold})`],
    ['groups', `${withoutSignal} of ${compared} without signal (all rewards equal)${compared ? `, ${share(withoutSignal / compared)}` : ''}${groups.unscored ? `   ${plural(groups.unscored, 'episode')} without reward left out` : ''}`],
  ];
}

/** The object that `run`, `resume` and `show` print with `--json`; documented in docs/cli.md. */
export function runObject(snapshot: RunSnapshot, directory: string): object {
  const { run, finished, counts, stats, components, groups, time, failures, episodesPerSecond, durationMs } = snapshot;
  return { run, finished, counts, stats, components, groups, time, failures, episodesPerSecond, durationMs, findings: snapshot.findings.map(findingText), directory };
}
