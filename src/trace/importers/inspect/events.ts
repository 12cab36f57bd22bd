/** Events of an Inspect sample (inspect_ai/event) as steps: a model's reply together with the tools that it called. */
import type { Described, MapContext, Mapper } from '../../document.js';
import type { Part, ToolCall } from '../../model.js';
import { callTitle, compact, isRecord, numberOf, textOf, titleOf } from '../../text.js';
import { contentParts, describeMessages, imageIn, timeOf, titleOfParts, tokensOf } from '../messages.js';
import { componentsOf, type Pools } from './pools.js';

type Event = Record<string, unknown>;

/** Events that only keep books: they are no steps, and do not part a model's reply from its tools. */
const BOOKS: ReadonlySet<string> = new Set(['state', 'store', 'step', 'span_begin', 'span_end', 'anchor', 'checkpoint', 'branch', 'subtask']);
/** Events that may lie between a model's reply and the results of its tools. */
const BETWEEN: ReadonlySet<string> = new Set(['tool', 'sandbox', 'approval']);

/** Ranges of the steps among events, by their kinds; the range of a model's reply ends with its last tool. */
export function groupEvents(events: readonly { readonly start: number; readonly end: number; readonly event: string }[]): { start: number; end: number; event: string }[] {
  const groups: { start: number; end: number; event: string }[] = [];
  let open: { start: number; end: number; event: string } | undefined;
  for (const { start, end, event } of events) {
    if (BOOKS.has(event)) continue;
    if (open && BETWEEN.has(event)) open.end = end;
    else {
      const group = { start, end, event };
      groups.push(group);
      open = event === 'model' ? group : undefined;
    }
  }
  return groups;
}

const durationOf = (event: Event): number | undefined => {
  const [from, to] = [timeOf(event.timestamp), timeOf(event.completed)];
  return from !== undefined && to !== undefined && to >= from ? to - from : undefined;
};

const errorText = (error: unknown): string | undefined => (isRecord(error) ? titleOf(textOf(error.message) ?? textOf(error.type) ?? compact(error)) : textOf(error) ? titleOf(textOf(error)!) : undefined);

export const eventMapper = (pools: Pools): Mapper => async (value, context): Promise<Described> => {
  const events = (value as unknown[]).filter(isRecord);
  const { input: _, ...first } = events[0] ?? {};
  const event = (await pools.resolve(first)) as Event;
  const kind = textOf(event.event) ?? '?';
  const ms = durationOf(event);
  const base = { label: kind, at: timeOf(event.timestamp), ...(ms !== undefined && { ms }), ...(event.pending === true && { pending: true }) };
  switch (kind) {
    case 'model':
      return { ...base, ...(await describeModel(events, event, pools, context)) };
    case 'tool': {
      const call = callOf(event, context);
      return { ...base, source: 'agent', kind: 'tool', title: callTitle(call.name, call.arguments), ...imageIn(call.result), ...(call.error && { error: call.error }), calls: [call] };
    }
    case 'sample_init': {
      const sample = isRecord(event.sample) ? event.sample : {};
      const messages = Array.isArray(sample.input) ? sample.input.filter(isRecord).flatMap((message) => contentParts(message.content, 'text', context)) : contentParts(sample.input, 'text', context);
      return { ...base, source: 'user', kind: 'message', title: titleOfParts(messages), ...imageIn(messages), message: messages, info: { target: sample.target, ...(sample.metadata !== undefined && { metadata: sample.metadata }) } };
    }
    case 'score': {
      const components = componentsOf({ score: event.score });
      const score = isRecord(event.score) ? event.score : {};
      const parts: Part[] = textOf(score.explanation) ? [{ type: 'text', text: textOf(score.explanation)! }] : [];
      return { ...base, source: 'verifier', kind: 'verifier', title: titleOf(`${event.intermediate === true ? 'intermediate score' : 'score'} ${compact(score.value)}${textOf(score.answer) ? `: ${textOf(score.answer)}` : ''}`), reward: components.length === 1 ? components[0]!.value : null, components, observation: parts, info: { target: event.target, ...(score.metadata !== undefined && { metadata: score.metadata }) } };
    }
    case 'error': {
      const error = isRecord(event.error) ? event.error : {};
      const traceback = textOf(error.traceback_ansi) ?? textOf(error.traceback);
      return { ...base, source: 'system', kind: 'error', title: errorText(event.error) ?? 'error', error: errorText(event.error) ?? 'error', observation: traceback ? [{ type: 'terminal', text: traceback }] : [] };
    }
    case 'sandbox': {
      const action = textOf(event.action) ?? 'sandbox';
      const text = textOf(event.cmd) ?? textOf(event.file) ?? '';
      const code = numberOf(event.result);
      return { ...base, source: 'environment', kind: 'action', title: titleOf(`${action}: ${text}`), ...(code ? { error: `exit ${code}` } : {}), action: [{ type: 'code', language: 'sh', text }], observation: contentParts(event.output, 'terminal', context), info: event.options };
    }
    default:
      return { ...base, source: 'system', kind: kind === 'interrupt' ? 'error' : 'message', title: titleOf(titleOfEvent(kind, event)), ...(kind === 'sample_limit' && { truncated: true }), info: Object.fromEntries(Object.entries(event).filter(([key]) => !['event', 'timestamp', 'uuid', 'span_id', 'working_start', 'pending'].includes(key))) };
  }
};

function titleOfEvent(kind: string, event: Event): string {
  const inner = isRecord(event.message) ? textOf(event.message.message) : (textOf(event.message) ?? textOf(event.input));
  if (kind === 'sample_limit') return `limit: ${textOf(event.type) ?? ''} ${inner ?? ''}`;
  return `${kind}: ${inner ?? (event.data === undefined ? '' : compact(event.data))}`;
}

function callOf(event: Event, context: MapContext): ToolCall {
  const error = errorText(event.error);
  const ms = durationOf(event);
  return {
    ...(typeof event.id === 'string' && { id: event.id }),
    name: textOf(event.function) ?? 'tool',
    arguments: event.arguments,
    result: contentParts(event.result, 'terminal', context),
    ...(ms !== undefined && { ms }),
    ...(error && { error }),
  };
}

async function describeModel(events: readonly Event[], event: Event, pools: Pools, context: MapContext): Promise<Omit<Described, 'label'>> {
  const output = isRecord(event.output) ? event.output : {};
  const choice = Array.isArray(output.choices) && isRecord(output.choices[0]) ? output.choices[0] : {};
  const said = describeMessages([isRecord(choice.message) ? choice.message : { role: 'assistant', content: output.completion ?? '' }], context);
  const tools = (await Promise.all(events.slice(1).filter((one) => one.event === 'tool').map((one) => pools.resolve(one)))).filter(isRecord).map((one) => callOf(one, context));
  const calls = (said.calls ?? []).map((call) => {
    const result = tools.find((tool) => tool.id !== undefined && tool.id === call.id);
    return result ? { ...result, name: call.name, arguments: call.arguments } : call;
  });
  const all = [...calls, ...tools.filter((tool) => !calls.some((call) => call.id !== undefined && call.id === tool.id))];
  const error = errorText(event.error) ?? errorText(output.error) ?? all.find((call) => call.error)?.error;
  const tokens = tokensOf(output.usage);
  const config = isRecord(event.config) ? Object.fromEntries(Object.entries(event.config).filter(([, value]) => value !== null)) : {};
  return {
    source: 'agent',
    kind: event.error ? 'error' : all.length ? 'tool' : 'model',
    title: event.error ? titleOf(error ?? 'error') : all.length && !said.calls?.length ? callTitle(all[0]!.name, all[0]!.arguments) : said.title,
    ...imageIn([...(said.message ?? []), ...all.flatMap((call) => call.result)]),
    ...(tokens && { tokens }),
    ...(error && { error }),
    ...(said.reasoning && { reasoning: said.reasoning }),
    message: said.message ?? [],
    ...(all.length && { calls: all }),
    model: {
      ...(typeof event.model === 'string' && { model: event.model }),
      ...(context.full && { request: { model: event.model, ...config, messages: await pools.resolve(await pools.input(events[0]!)), ...(Array.isArray(event.tools) && event.tools.length && { tools: event.tools }) } }),
      ...(typeof choice.stop_reason === 'string' && { finishReason: choice.stop_reason }),
    },
  };
}
