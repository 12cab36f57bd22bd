/** Runs and their episodes as tree items. */
import * as l10n from '@vscode/l10n';
import type { EpisodeRecord, FailureGroup } from '../../protocol/runView.js';
import type { RunSummary } from '../../runner/api.js';
import type { ForkOrigin } from '../../store/records.js';
import { formatAgo, formatDuration, formatMean, formatRate, formatReward, formatSpending, oneLine } from '../format.js';
import { Commands, InternalCommands, Items, type ItemId } from '../ids.js';
import type { Node, RunRef } from './node.js';

export const isActive = ({ run }: RunSummary): boolean => run.state === 'building' || run.state === 'running';

/** Whether some episode failed or has no reward. */
export const hasFailures = ({ errors, unscored }: RunSummary): boolean => errors > 0 || unscored > 0;

export function runNode(root: string, summary: RunSummary, now: number): Node {
  const { run } = summary;
  const label = `${oneLine(run.template, 80)} #${run.number}`;
  const description = describeRun(summary);
  return {
    id: `run:${root}:${run.id}`,
    label,
    description,
    spoken: l10n.t('Run {0}, {1}', label, description),
    tooltip: () => runTooltip(summary, now),
    icon: runIcon(summary),
    item: runItem(summary),
    ...((summary.finished > 0 || !isActive(summary)) && { children: 'collapsed' as const }),
    command: { id: Commands.openRun, title: l10n.t('Open Run'), arguments: [{ root, id: run.id } satisfies RunRef] },
    run: { root, id: run.id },
  };
}

export function describeRun(summary: RunSummary): string {
  const { run, finished, mean, ci95, episodesPerSecond } = summary;
  const count = `${finished}/${run.total}`;
  switch (run.state) {
    case 'building':
      return l10n.t('building');
    case 'running':
      return l10n.t('running {0}', [count, ...(episodesPerSecond === null ? [] : [formatRate(episodesPerSecond)]), formatSpending(run) ?? ''].join('  ').trimEnd());
    case 'done':
      return [...(run.fork ? [l10n.t('fork')] : []), count, formatMean(mean, ci95)].join('   ');
    case 'failed':
      return run.error ? l10n.t('failed: {0}', oneLine(run.error)) : l10n.t('failed');
    case 'cancelled':
      return l10n.t('cancelled {0}', `${count}   ${formatMean(mean, ci95)}`);
    case 'interrupted':
      return l10n.t('interrupted {0}', `${count}   ${formatMean(mean, ci95)}`);
  }
}

function runItem(summary: RunSummary): ItemId {
  if (isActive(summary)) return Items.activeRun;
  const failures = hasFailures(summary);
  if (summary.run.state === 'done' && summary.finished >= summary.run.total) return failures ? Items.doneRunWithFailures : Items.doneRun;
  return failures ? Items.incompleteRunWithFailures : Items.incompleteRun;
}

function runIcon(summary: RunSummary): NonNullable<Node['icon']> {
  switch (summary.run.state) {
    case 'building':
    case 'running':
      // None that turns: VS Code would draw the window again and again as long as the run goes on, at the run's cost. Its figures show that it does.
      return { id: 'play-circle' };
    case 'failed':
      return { id: 'error', color: 'testing.iconFailed' };
    case 'cancelled':
      return { id: 'circle-slash' };
    case 'interrupted':
      return { id: 'debug-disconnect' };
    case 'done':
      return hasFailures(summary) ? { id: 'warning', color: 'list.warningForeground' } : { id: 'pass', color: 'testing.iconPassed' };
  }
}

const forkedFrom = ({ run, episode, step }: ForkOrigin): string => l10n.t('forked from {0}, episode {1}, after step {2}', run ?? l10n.t('a trace'), episode, step);

function runTooltip(summary: RunSummary, now: number): string {
  const { run, errors, unscored } = summary;
  const lines = [
    run.file,
    ...(run.fork ? [forkedFrom(run.fork)] : []),
    l10n.t('{0}, {1} samples per seed, {2} at once', run.provider, run.samples, run.concurrency),
    l10n.t('started {0}', formatAgo(run.startedAt ?? run.createdAt, now)),
  ];
  if (run.finishedAt !== undefined && run.startedAt !== undefined) lines.push(l10n.t('took {0}', formatDuration(run.finishedAt - run.startedAt)));
  lines.push(l10n.t('mean {0}', formatMean(summary.mean, summary.ci95)));
  if (hasFailures(summary)) lines.push(l10n.t('{0} without a reward, {1} of them errors', Math.max(unscored, errors), errors));
  const spending = formatSpending(run);
  if (spending) lines.push(l10n.t('cost {0}, by the price table', spending));
  if (run.error) lines.push(oneLine(run.error, 400));
  return lines.join('\n');
}

export interface RunDetails {
  readonly best: readonly EpisodeRecord[];
  readonly worst: readonly EpisodeRecord[];
  readonly failures: readonly FailureGroup[];
}

/** How many of the best, and of the worst. */
export const EXTREMES = 5;

/** Best, worst, failures by cause, and a way to all of them: 70,000 episodes belong in the run view. */
export function runChildren(root: string, summary: RunSummary, details: RunDetails): Node[] {
  const ref: RunRef = { root, id: summary.run.id };
  const best = details.best.filter(({ reward }) => reward !== null).slice(0, EXTREMES);
  const shown = new Set(best.map(({ episode }) => episode));
  const worst = details.worst.filter(({ reward, episode }) => reward !== null && !shown.has(episode)).slice(0, EXTREMES);
  return [
    ...best.map((record) => episodeNode(ref, record, 'best')),
    ...worst.map((record) => episodeNode(ref, record, 'worst')),
    ...details.failures.map((group) => failureNode(ref, group)),
    allNode(ref, summary),
  ];
}

function episodeNode(ref: RunRef, record: EpisodeRecord, rank: 'best' | 'worst'): Node {
  const reward = formatReward(record.reward);
  const label = rank === 'best' ? l10n.t('best {0}', reward) : l10n.t('worst {0}', reward);
  const which = record.sample > 0 ? l10n.t('seed {0} sample {1}', record.seed, record.sample) : l10n.t('seed {0}', record.seed);
  return {
    id: `${rank}:${ref.root}:${ref.id}:${record.episode}`,
    label,
    description: which,
    spoken: `${label}, ${which}`,
    tooltip: () => l10n.t('Episode {0}: {1}, {2} steps, {3}', record.episode, record.status, record.steps, formatDuration(record.timings.total)),
    icon: { id: rank === 'best' ? 'arrow-up' : 'arrow-down' },
    item: Items.episode,
    command: { id: InternalCommands.openEpisode, title: l10n.t('Open Episode'), arguments: [ref, record.episode] },
    run: ref,
    episode: { ...ref, episode: record.episode },
  };
}

function failureNode(ref: RunRef, { code, count, example, status }: FailureGroup): Node {
  const cause = oneLine(code, 60);
  const label = `${count} × ${cause}`;
  const detail = oneLine(example.startsWith(`${code}: `) ? example.slice(code.length + 2) : example);
  return {
    id: `failure:${ref.root}:${ref.id}:${status}:${code}`,
    label,
    description: detail,
    spoken: l10n.t('{0} episodes with {1}: {2}', count, cause, detail),
    tooltip: () => oneLine(example, 600),
    icon: status === 'error' ? { id: 'error', color: 'testing.iconFailed' } : { id: 'warning', color: 'list.warningForeground' },
    command: { id: InternalCommands.openFailures, title: l10n.t('Show These Episodes'), arguments: [ref, code] },
    run: ref,
  };
}

function allNode(ref: RunRef, { finished }: RunSummary): Node {
  const label = l10n.t('All {0}…', finished);
  return {
    id: `all:${ref.root}:${ref.id}`,
    label,
    spoken: l10n.t('All {0} episodes, opens the run view', finished),
    icon: { id: 'table' },
    command: { id: Commands.openRun, title: l10n.t('Open Run'), arguments: [ref] },
    run: ref,
  };
}

/** Stands below the runs that are shown when there are more. */
export const moreRunsNode = (hidden: number): Node => ({
  id: 'more-runs',
  label: l10n.t('Load more…'),
  description: l10n.t('{0} older runs', hidden),
  spoken: l10n.t('Load more, {0} older runs', hidden),
  icon: { id: 'ellipsis' },
  command: { id: InternalCommands.loadMoreRuns, title: l10n.t('Load More'), arguments: [] },
});
