/** What `compare` prints. Its `--json` is the comparison itself with all seeds; documented in docs/cli.md. */
import type { RunComparison, RunDifference, SeedPair, SignFlipTest } from '../store/comparison.js';
import type { RunRecord } from '../store/records.js';
import { seedCount } from '../template/template.js';
import { NONE, columns, milliseconds, plural, reward } from './format.js';
import { oneLine } from './plain.js';

export function compareReport(comparison: RunComparison, extremes: { readonly worse: readonly SeedPair[]; readonly better: readonly SeedPair[] }): string {
  const { runs, pairs, mean, ci95, std, test, better, same, worse, a, b, left } = comparison;
  const rows: [string, string][] = [
    ['a', runLine(runs.a)],
    ['b', runLine(runs.b)],
    ['pairs', [plural(pairs, 'seed'), ...leftOut(left)].join('   ')],
    ['mean of a', `${reward(a.mean)}   median ${reward(a.median)}   min ${reward(a.min)}   max ${reward(a.max)}`],
    ['mean of b', `${reward(b.mean)}   median ${reward(b.median)}   min ${reward(b.min)}   max ${reward(b.max)}`],
    ['b - a', `${signed(mean)} ± ${reward(ci95)} (95 %)   std ${reward(std)}`],
    ['by chance', test ? `${probability(test)}   (${test.method === 'exact' ? `sign flips, all ${test.permutations}` : `sign flips, ${test.permutations} drawn with seed 0`})` : NONE],
    ['seeds', `${better} better   ${same} the same   ${worse} worse`],
  ];
  return [
    columns(rows),
    ...list('lost most:', extremes.worse),
    ...list('gained most:', extremes.better),
    ...comparison.differences.map((difference) => `not the same: ${differenceText(difference)}`),
  ].join('\n');
}

const runLine = (run: RunRecord): string => `${oneLine(run.template, 60)} #${run.number}  ${run.provider}  ${plural(seedCount(run.seeds), 'seed')} x ${run.samples}  policy ${run.policy}  ${run.state}`;

const leftOut = ({ onlyA, onlyB, unscored }: RunComparison['left']): string[] => [
  ...(onlyA ? [`${onlyA} only in a`] : []),
  ...(onlyB ? [`${onlyB} only in b`] : []),
  ...(unscored ? [`${unscored} without a reward in one of them`] : []),
];

const signed = (value: number | null): string => (value !== null && value > 0 ? `+${reward(value)}` : reward(value));

/** Where none of those that were drawn lies as far from 0, less cannot be told from so many. */
const probability = ({ p, method, permutations }: SignFlipTest): string => (method === 'monte-carlo' && p * permutations < 1.5 ? `p <= ${p}` : `p = ${p < 0.001 ? p.toExponential(1) : p.toFixed(4)}`);

function list(title: string, pairs: readonly SeedPair[]): string[] {
  if (pairs.length === 0) return [];
  const rows = pairs.map(({ seed, a, b, delta }) => ['', `seed ${seed}`, signed(delta), `${reward(a?.mean)} -> ${reward(b?.mean)}`, `episodes ${a?.episode} and ${b?.episode}`]);
  return [title, columns(rows)];
}

function differenceText({ what, a, b }: RunDifference): string {
  switch (what) {
    case 'template': return `the template, ${oneLine(a, 60)} and ${oneLine(b, 60)}`;
    case 'digest': return `what the snapshot is built from, ${a || 'none'} and ${b || 'none'}`;
    case 'snapshot': return `the snapshot, ${a || 'none'} and ${b || 'none'}`;
    case 'episode': return `what an episode is asked to do, ${a} and ${b}`;
    case 'reward': return `the verifier (how episodes are scored), ${a} and ${b}`;
    case 'policy': return `the policy, ${a} and ${b}`;
    case 'provider': return `the provider, ${a} and ${b}`;
    case 'samples': return `samples for each seed, ${a} and ${b}`;
    case 'timeout': return `the timeout, ${milliseconds(Number(a))} and ${milliseconds(Number(b))}`;
    case 'unfinished': return `what is finished: ${a} episodes are missing in a, ${b} in b`;
  }
}
