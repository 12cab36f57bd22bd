/** Two aligned traces as text for a terminal. All text of a trace is hostile: no escape of it reaches the terminal. */
import { isDifferent } from '../engine/compareTraces.js';
import type { AlignedRow, TraceComparison } from '../protocol/traceDiff.js';
import type { StepSummary, TraceHead } from '../trace/model.js';
import { NONE, columns, plural } from './format.js';
import { oneLine } from './plain.js';
import { rewardText } from './traceReport.js';

/** Rows before and after what differs. */
const CONTEXT = 1;
const ROWS = 200;
const TITLE = 48;

type Summaries = Readonly<Record<'a' | 'b', readonly StepSummary[]>>;

export function traceDiffReport({ heads, different, first, firstAction, compared, rows: total }: TraceComparison, rows: readonly AlignedRow[], summaries: Summaries): string {
  const at = (index: number | null): string => (index === null ? NONE : stepsText(rows[index]!, summaries));
  const notCompared = (['a', 'b'] as const).filter((side) => compared[side] < heads[side].steps).map((side) => `${compared[side]} of ${heads[side].steps} steps of ${side}`);
  const facts: [string, string][] = [
    ['a', headLine(heads.a)],
    ['b', headLine(heads.b)],
    ['different', `${different} of ${plural(total, 'row')}`],
    ...(different > 0 ? ([['first', at(first)], ['first action', at(firstAction)]] as [string, string][]) : []),
    ...(notCompared.length ? ([['compared', notCompared.join(', ')]] as [string, string][]) : []),
  ];
  const near = rows.map((_, index) => rows.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(isDifferent));
  const shown = rows.flatMap((row, index) => (near[index] ? [{ row, gap: index > 0 && !near[index - 1] }] : []));
  const lines = shown.slice(0, ROWS).flatMap(({ row, gap }) => [...(gap ? [['', '', '...', '']] : []), rowCells(row, summaries)]);
  return [columns(facts), ...(lines.length ? ['', columns([['a', 'b', 'differs', 'step'], ...lines])] : []), ...(shown.length > ROWS ? [`${shown.length - ROWS} more rows; --json has all`] : [])].join('\n');
}

const headLine = ({ title, format, steps, reward, end }: TraceHead): string => `${oneLine(title, 60)}  ${oneLine(format, 20)}  ${plural(steps, 'step')}  reward ${rewardText(reward)}  ${end.status}${end.reason ? ` (${oneLine(end.reason, 60)})` : ''}`;

const label = (step: StepSummary | undefined): string => (step ? oneLine(step.label, 12) : NONE);

function stepsText({ a, b, differs }: AlignedRow, summaries: Summaries): string {
  const [ofA, ofB] = [a === null ? undefined : summaries.a[a], b === null ? undefined : summaries.b[b]];
  const what = a === null ? 'only b has it' : b === null ? 'only a has it' : differs.join(', ');
  return `step ${label(ofA)} of a, step ${label(ofB)} of b: ${what}`;
}

function rowCells({ a, b, differs }: AlignedRow, summaries: Summaries): string[] {
  const [ofA, ofB] = [a === null ? undefined : summaries.a[a], b === null ? undefined : summaries.b[b]];
  const [titleA, titleB] = [ofA && oneLine(ofA.title, TITLE), ofB && oneLine(ofB.title, TITLE)];
  const what = a === null ? 'only b' : b === null ? 'only a' : differs.join(', ');
  return [label(ofA), label(ofB), what, titleA === undefined || titleB === undefined || titleA === titleB ? (titleA ?? titleB ?? '') : `${titleA}  |  ${titleB}`];
}
