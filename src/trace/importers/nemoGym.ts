/** NeMo Gym's rollouts (https://github.com/NVIDIA-NeMo/Gym, nemo_gym/rollout_collection.py): a line is the row, an OpenAI Responses object and a reward. */
import { DocumentReader, type Described, type MapContext, type Mapper } from '../document.js';
import { readJson } from '../json/prune.js';
import type { Part, ToolCall } from '../model.js';
import { callTitle, compact, isRecord, textOf, titleOf } from '../text.js';
import type { TraceFormat } from './format.js';
import { baseName, openLine, type LineFormat } from './lineMembers.js';
import { argumentsOf, contentParts, describeMessages, timeOf, titleOfParts, tokensOf } from './messages.js';
import { addVerdict } from './rewards.js';

const INPUT = 'responses_create_params.input';
const OUTPUT = 'response.output';

/** One item of a prompt, or those of one turn of the model. */
const map: Mapper = (value, context) => {
  const items = (value as unknown[]).filter(isRecord);
  const [first] = items;
  if (!first || (first.type !== undefined && first.type !== 'message') || first.role === 'assistant') return describeTurn(items, context);
  return describeMessages([first], context);
};

function describeTurn(items: readonly Record<string, unknown>[], context: MapContext): Described {
  const reasoning = items.filter(({ type }) => type === 'reasoning').flatMap((item): Part[] => [...contentParts(item.summary, 'text', context), ...contentParts(item.content, 'text', context)]);
  const message = items.filter((item) => item.type === 'message' || item.role !== undefined).flatMap((item) => contentParts(item.content, 'text', context));
  const outputs = items.filter(({ type }) => type === 'function_call_output');
  const calls = items.filter(({ type }) => type === 'function_call').map((item): ToolCall => {
    const output = outputs.find(({ call_id: id }) => id === item.call_id);
    return { ...(typeof item.call_id === 'string' && { id: item.call_id }), name: textOf(item.name) ?? 'tool', arguments: argumentsOf(item.arguments), result: output ? contentParts(output.output, 'terminal', context) : [] };
  });
  const orphans = outputs.filter((output) => !calls.some(({ id }) => id === output.call_id)).flatMap((output) => contentParts(output.output, 'terminal', context));
  const others = items.filter(({ type, role }) => role === undefined && type !== undefined && !['message', 'reasoning', 'function_call', 'function_call_output'].includes(textOf(type) ?? ''));
  const [call] = calls;
  const shown = [message, reasoning, orphans].find((parts) => parts.length);
  return {
    label: call ? 'function_call' : (textOf(items[0]?.type) ?? 'message'),
    source: 'agent',
    kind: call ? 'tool' : orphans.length ? 'action' : 'model',
    title: call ? titleOf(callTitle(call.name, call.arguments) + (calls.length > 1 ? ` (+${calls.length - 1})` : '')) : shown ? titleOfParts(shown) : titleOf(compact(others[0]?.type ?? '(nothing)')),
    ...(reasoning.length && { reasoning }),
    message,
    ...(calls.length && { calls }),
    ...(orphans.length && { observation: orphans }),
    ...(others.length && { info: others }),
  };
}

const format: LineFormat = {
  what: 'rollout',
  patterns: [INPUT, `${INPUT}.*`, `${OUTPUT}.*`, `${OUTPUT}.*.type`, `${OUTPUT}.*.role`, 'response.usage', 'response.model', 'response.created_at', 'response.error', 'reward', 'reward_components', 'terminated', 'truncated', 'info', '_ng_task_index', '_ng_rollout_index', '_ng_failure_class', 'agent_ref.name'],
  naming: ['_ng_task_index', '_ng_rollout_index', 'reward'],
  name(line, index) {
    const task = line.number('_ng_task_index');
    const rollout = line.number('_ng_rollout_index');
    const named = task === undefined ? `rollout ${index + 1}` : `task ${task}${rollout === undefined ? '' : ` · rollout ${rollout}`}`;
    return line.number('reward') === undefined ? named : `${named} · reward ${line.number('reward')}`;
  },
  async read(file, bytes, line, members, index) {
    const value = async (pattern: string): Promise<unknown> => {
      const found = line.all(pattern)[0];
      return found && (await readJson(bytes, found)).value;
    };
    const [usage, info, parts, error] = [await value('response.usage'), await value('info'), await value('reward_components'), await value('response.error')];
    const reward = line.number('reward') ?? null;
    const [terminated, truncated] = [line.value('terminated') === true, line.value('truncated') === true];
    const failure = line.text('_ng_failure_class') ?? (isRecord(error) ? textOf(error.message) : undefined);
    const components = isRecord(parts) ? Object.entries(parts).map(([name, one]) => ({ name, value: typeof one === 'number' && Number.isFinite(one) ? one : null })) : undefined;
    const reader = new DocumentReader({
      format: 'nemo-gym',
      title: `${baseName(file)} · ${format.name(line, index).replace(/ · reward .*/, '')}`,
      ...(line.text('agent_ref.name') && { agent: line.text('agent_ref.name') }),
      ...(line.text('response.model') && { model: line.text('response.model') }),
      ...(timeOf(line.value('response.created_at')) !== undefined && { startedAt: timeOf(line.value('response.created_at')) }),
      ...(tokensOf(usage) && { tokens: tokensOf(usage) }),
      reward,
      ...(components && { components }),
      end: failure !== undefined ? { status: 'error', reason: titleOf(failure) } : truncated ? { status: 'truncated' } : terminated ? { status: 'completed', reason: 'terminated' } : { status: reward === null ? 'unknown' : 'completed' },
      ...members,
    });
    const prompt = line.all(`${INPUT}.*`);
    for (const { start, end } of prompt) reader.add({ bytes, start, end, map, elements: true });
    const [text] = line.all(INPUT);
    if (!prompt.length && text?.type === 'scalar') reader.add({ bytes, start: text.start, end: text.end, map: (one, context) => describeMessages([{ role: 'user', content: one }], context) });
    for (const turn of turns(line)) reader.add({ bytes, ...turn, map, elements: true, kind: 'model' });
    if (line.all('reward').length) addVerdict(reader, { reward, ...(components && { components }), terminated, truncated, ...(info !== undefined && { info }) });
    return reader;
  },
};

/** Items of the output that are one turn: thought, said, called, answered. */
function turns(line: Parameters<LineFormat['read']>[2]): { start: number; end: number }[] {
  const by = (key: string): Map<number | undefined, unknown> => new Map(line.all(`${OUTPUT}.*.${key}`).map(({ indexes, value }) => [indexes[0], value]));
  const [types, roles] = [by('type'), by('role')];
  const result: { start: number; end: number }[] = [];
  /** What the open turn has; a turn is over once a tool has answered or a message follows a message. */
  let open: { said: boolean; answered: boolean } | undefined;
  for (const [index, { start, end }] of line.all(`${OUTPUT}.*`).entries()) {
    const type = types.get(index) ?? 'message';
    const answer = type === 'function_call_output';
    const foreign = type === 'message' && roles.get(index) !== 'assistant';
    const joins = open && !foreign && (answer || (!open.answered && !(type === 'message' && open.said)));
    if (joins) result.at(-1)!.end = end;
    else {
      result.push({ start, end });
      open = foreign ? undefined : { said: false, answered: false };
    }
    if (open) open = { said: open.said || type === 'message' || type === 'function_call', answered: open.answered || answer };
  }
  return result;
}

export const nemoGym: TraceFormat = {
  id: 'nemo-gym',
  title: 'NeMo Gym rollouts',
  recognises: ({ keys }) => keys.get('response')?.type === 'object' && (keys.has('responses_create_params') || keys.has('_ng_task_index')),
  open: ({ file, more }, bytes, options) => openLine(format, file, bytes!, more, options),
};
