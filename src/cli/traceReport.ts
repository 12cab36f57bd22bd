/** A trace as text for a terminal. All of it is hostile: nothing but colours of a program's output reaches the terminal as it is. */
import type { Part, StepDetail, StepSummary, Tokens, TraceHead } from '../trace/model.js';
import { columns, milliseconds, NONE, plural } from './format.js';
import { coloured, oneLine, plain } from './plain.js';

const SHOWN_MEMBERS = 20;

/** A reward as the file has it, not rounded to look like another one. */
export const rewardText = (reward: number | null | undefined): string => (reward === null || reward === undefined ? NONE : String(Number(reward.toPrecision(6))));

const tokensText = ({ prompt, completion, cached }: Tokens): string =>
  [prompt === undefined ? undefined : `${prompt} prompt${cached ? ` (${cached} cached)` : ''}`, completion === undefined ? undefined : `${completion} completion`].filter((part) => part !== undefined).join(', ');

const dollars = (cost: number): string => `$${cost < 0.01 && cost > 0 ? Number(cost.toPrecision(2)) : cost.toFixed(2)}`;
const utc = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');
const validTime = (at: number | undefined): at is number => at !== undefined && Math.abs(at) < 8.64e15;

export function headReport(head: TraceHead): string {
  const { format, version, title, agent, model, task, seed, sample, steps, startedAt, endedAt, tokens, cost, reward, components, end, live, members, problems } = head;
  const rows: [string, string][] = [['format', [format, version].filter((part) => part !== undefined).join(' ')], ['title', title]];
  if (agent ?? model) rows.push(['agent', [agent, model && `model ${model}`].filter(Boolean).join(', ')]);
  if (task ?? seed) rows.push(['task', [task, seed === undefined ? undefined : `seed ${seed}`, sample === undefined ? undefined : `sample ${sample}`].filter((part) => part !== undefined).join(', ')]);
  if (validTime(startedAt)) rows.push(['began (UTC)', `${utc(startedAt)}${validTime(endedAt) && endedAt >= startedAt ? `, took ${milliseconds(endedAt - startedAt)}` : ''}`]);
  rows.push(['steps', String(steps)]);
  if (tokens) rows.push(['tokens', tokensText(tokens)]);
  if (cost !== undefined) rows.push(['cost', dollars(cost)]);
  rows.push(['reward', reward === undefined ? 'the format has none' : rewardText(reward)]);
  rows.push(['ended', `${end.status}${end.reason ? ` (${end.reason})` : ''}${live ? ', still being written' : ''}`]);
  if (members) rows.push(['trace', `${members.selected} of 0 to ${members.total - 1}; --member N shows another`]);
  return [
    columns(rows.map(([name, value]) => [name, oneLine(value)])),
    ...(components ?? []).map(({ name, value, weight, detail }) => `  ${oneLine(name, 60)}  ${rewardText(value)}${weight === undefined ? '' : ` x ${weight}`}${detail ? `  ${oneLine(detail, 80)}` : ''}`),
    ...(members ? [...members.names.slice(0, SHOWN_MEMBERS).map((name, index) => `  ${index === members.selected ? '>' : ' '} ${index}  ${oneLine(name, 100)}`), ...(members.total > SHOWN_MEMBERS ? [`    and ${plural(members.total - SHOWN_MEMBERS, 'more trace')}`] : [])] : []),
    ...problems.map((problem) => `problem: ${oneLine(problem, 300)}`),
  ].join('\n');
}

export function stepsReport(steps: readonly StepSummary[]): string {
  const rewards = steps.some(({ reward }) => reward !== undefined);
  const rows = steps.map(({ index, source, kind, title, depth, reward, error, ms, pending, terminated, truncated }) => [
    String(index),
    source,
    kind,
    ...(rewards ? [reward === undefined ? '' : rewardText(reward)] : []),
    ms === undefined ? '' : milliseconds(ms),
    `${'  '.repeat(depth ?? 0)}${oneLine(title, 100)}${[error && `[${oneLine(error, 40)}]`, pending && '[going on]', terminated && '[terminated]', truncated && '[truncated]'].filter(Boolean).map((mark) => ` ${mark}`).join('')}`,
  ]);
  return columns([['#', 'source', 'kind', ...(rewards ? ['reward'] : []), 'took', 'what'], ...rows]);
}

/** One step; `colours`: those of a program's output stay. */
export function stepReport(step: StepDetail, colours: boolean): string {
  const lines = [`step ${step.index}   ${oneLine(step.label, 40)}   ${step.source}   ${step.kind}`];
  const facts = [
    validTime(step.at) && `${utc(step.at)} UTC`,
    step.ms !== undefined && `took ${milliseconds(step.ms)}`,
    step.reward !== undefined && `reward ${rewardText(step.reward)}`,
    step.terminated && 'terminated',
    step.truncated && 'truncated',
    step.tokens && `tokens ${tokensText(step.tokens)}`,
    step.cost !== undefined && dollars(step.cost),
    step.model?.model && `model ${oneLine(step.model.model, 60)}`,
    step.error && `error: ${oneLine(step.error)}`,
  ].filter(Boolean);
  if (facts.length) lines.push(facts.join('   '));
  const section = (name: string, parts: readonly Part[] | undefined): void => {
    if (parts?.length) lines.push('', `--- ${name}`, ...parts.map((part) => partText(part, colours)));
  };
  section('reasoning', step.reasoning);
  section('message', step.message);
  section('action', step.action);
  for (const call of step.calls ?? []) {
    const marks = [call.exitCode !== undefined && `exit ${call.exitCode}`, call.ms !== undefined && milliseconds(call.ms), call.error && `error: ${oneLine(call.error)}`].filter(Boolean).join('   ');
    lines.push('', `--- call ${oneLine(call.name, 60)}${marks ? `   ${marks}` : ''}`, plain(typeof call.arguments === 'string' ? call.arguments : safeJson(call.arguments)));
    section('result', call.result);
  }
  section('observation', step.observation);
  for (const file of step.files ?? []) lines.push('', `--- ${file.change} ${oneLine(file.path)}`, ...(file.diff ? [plain(file.diff).trimEnd()] : []));
  for (const frame of step.frames ?? []) lines.push(`[frame: ${oneLine(frame.mediaType, 40)}, ${frame.bytes ?? '?'} bytes]`);
  if (step.components?.length) lines.push('', '--- components', ...step.components.map(({ name, value, weight, detail }) => `${oneLine(name, 60)}  ${rewardText(value)}${weight === undefined ? '' : ` x ${weight}`}${detail ? `  ${oneLine(detail)}` : ''}`));
  if (step.info !== undefined) lines.push('', '--- info', plain(safeJson(step.info)));
  return lines.join('\n');
}

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? '';
  } catch {
    return '(nested too deep to be shown)';
  }
}

function partText(part: Part, colours: boolean): string {
  switch (part.type) {
    case 'terminal': {
      const clean = (text: string): string => (colours ? coloured(text) : plain(text));
      const { text, dropped } = part;
      return (dropped ? `${clean(text.slice(0, dropped.at))}\n[${dropped.bytes} bytes were not kept]\n${clean(text.slice(dropped.at))}` : clean(text)).trimEnd();
    }
    case 'json':
      return plain(safeJson(part.value));
    case 'image':
      return `[image: ${oneLine(part.image.mediaType, 40)}${part.image.bytes === undefined ? '' : `, ${part.image.bytes} bytes`}]`;
    case 'long':
      return `${plain(part.content.head ?? '').trimEnd()}\n[${part.content.bytes ?? '?'} bytes in all; --json has the name of the rest]`;
    default:
      return plain(part.text).trimEnd();
  }
}
