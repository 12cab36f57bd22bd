/**
 * verifiers (https://github.com/PrimeIntellect-ai/verifiers): `traces.jsonl` of version 1, an episode of one or more traces on each line, whose
 * messages form a tree; and the older `results.jsonl`, a rollout on each line.
 */
import type { FileBytes } from '../bytes.js';
import { DocumentReader, type Mapper } from '../document.js';
import { readJson } from '../json/prune.js';
import { Outline } from '../json/scan.js';
import type { StepDetail, TraceEnd } from '../model.js';
import { compact, isRecord, numberOf, textOf, titleOf } from '../text.js';
import type { TraceFormat } from './format.js';
import { baseName, openLine, type LineFormat } from './lineMembers.js';
import { describeMessages, groupMessages, isAssistant, timeOf } from './messages.js';
import { addVerdict } from './rewards.js';

type Json = Record<string, unknown>;

async function valueOf(bytes: FileBytes, line: Outline, pattern: string): Promise<unknown> {
  const found = line.all(pattern)[0];
  return found && (await readJson(bytes, found)).value;
}

const errorIn = (errors: unknown): string | undefined => {
  const first: unknown = Array.isArray(errors) ? errors[0] : errors;
  if (first === null || first === undefined || first === false || first === '') return undefined;
  return titleOf(isRecord(first) ? `${textOf(first.type) ?? textOf(first.error) ?? 'error'}: ${textOf(first.message) ?? ''}` : compact(first));
};

const map: Mapper = (value, context) => describeMessages(value as unknown[], context);

const older: LineFormat = {
  what: 'rollout',
  patterns: ['example_id', 'prompt', 'prompt.*', 'prompt.*.role', 'completion', 'completion.*', 'completion.*.role', 'reward', 'metrics', 'is_completed', 'is_truncated', 'stop_condition', 'error', 'answer', 'info', 'task'],
  naming: ['example_id', 'reward'],
  name: (line, index) => `example ${compact(line.value('example_id') ?? index)} · reward ${line.number('reward') ?? 'none'}`,
  async read(file, bytes, line, members, index) {
    const [metrics, error] = [await valueOf(bytes, line, 'metrics'), errorIn(await valueOf(bytes, line, 'error'))];
    const reward = line.number('reward') ?? null;
    const components = isRecord(metrics) ? Object.entries(metrics).map(([name, one]) => ({ name, value: numberOf(one) ?? null })) : undefined;
    const stop = line.text('stop_condition');
    const end: TraceEnd = error ? { status: 'error', reason: error } : { status: line.value('is_truncated') === true ? 'truncated' : line.value('is_completed') === true ? 'completed' : 'unknown', ...(stop && { reason: titleOf(stop) }) };
    const reader = new DocumentReader({
      format: 'verifiers', version: 'results.jsonl', title: `${baseName(file)} · example ${compact(line.value('example_id') ?? index)}`,
      ...(line.text('task') && { task: line.text('task') }), reward, ...(components?.length && { components }), end,
      extra: { answer: await valueOf(bytes, line, 'answer'), info: await valueOf(bytes, line, 'info') }, ...members,
    });
    for (const [list, role] of [['prompt', 'user'], ['completion', 'assistant']] as const) {
      for (const group of groupMessages(line, list)) reader.add({ bytes, ...group, map, elements: true });
      const [text] = line.all(list);
      if (text?.type === 'scalar') reader.add({ bytes, start: text.start, end: text.end, map: (content, context) => describeMessages([{ role, content }], context) });
    }
    addVerdict(reader, { reward, ...(components?.length && { components }), ...(error && { error }) });
    return reader;
  },
};

/** Weighted sum of scores, as `Trace.reward` of verifiers gives it; `null` where any of them was not given. */
function rewardOf(rewards: unknown): { reward: number | null; components: NonNullable<StepDetail['components']> } {
  const components = isRecord(rewards) ? Object.entries(rewards).map(([name, one]) => ({ name, value: isRecord(one) ? (numberOf(one.score) ?? null) : (numberOf(one) ?? null), weight: isRecord(one) ? (numberOf(one.weight) ?? 1) : 1 })) : [];
  const known = components.length > 0 && components.every(({ value }) => value !== null);
  return { reward: known ? components.reduce((sum, { value, weight }) => sum + value! * weight, 0) : null, components };
}

/** Patterns of a trace, below `traces.*` of an episode or at the top. */
const TRACE = ['', 'nodes.*', 'nodes.*.message.role', 'nodes.*.parent', 'calls', 'rewards', 'metrics', 'errors', 'stop_condition', 'is_completed', 'agent.name', 'agent.config', 'version', 'ok'];

const traces: LineFormat = {
  what: 'episode',
  patterns: ['id', 'env.id', 'env.name', 'task.key', 'errors', 'traces.*', ...TRACE.filter(Boolean)],
  naming: ['id', 'task.key'],
  name: (line, index) => compact(line.value('task.key') ?? line.value('id') ?? `episode ${index + 1}`),
  async read(file, bytes, line, members, index) {
    const episode = line.all('traces.*');
    const parts = episode.length ? await Promise.all(episode.map((span) => Outline.of(bytes, span, TRACE))) : [line];
    const verdicts = await Promise.all(parts.map(async (part) => ({ ...rewardOf(await valueOf(bytes, part, 'rewards')), metrics: await valueOf(bytes, part, 'metrics'), errors: await valueOf(bytes, part, 'errors') })));
    const error = errorIn(await valueOf(bytes, line, 'errors')) ?? verdicts.map(({ errors }) => errorIn(errors)).find(Boolean);
    const [first] = parts;
    const agents = parts.map((part) => part.text('agent.name')).filter((name) => name !== undefined);
    const stop = first?.text('stop_condition');
    const done = parts.every((part) => part.value('is_completed') === true);
    const reader = new DocumentReader({
      format: 'verifiers', version: compact(first?.value('version') ?? 1), title: `${baseName(file)} · ${traces.name(line, index)}`,
      ...(agents.length && { agent: [...new Set(agents)].join(', ') }),
      task: line.text('env.id') ?? line.text('env.name'),
      reward: parts.length === 1 ? verdicts[0]!.reward : null,
      ...(parts.length === 1 && verdicts[0]!.components.length && { components: verdicts[0]!.components }),
      end: error ? { status: 'error', reason: error } : { status: done && parts.length ? 'completed' : 'unknown', ...(stop && { reason: titleOf(stop) }) },
      ...members,
    });
    for (const [at, part] of parts.entries()) {
      await addNodes(reader, bytes, part);
      const { reward, components, metrics, errors } = verdicts[at]!;
      const name = part.text('agent.name');
      addVerdict(reader, { label: parts.length > 1 ? titleOf(name ?? `trace ${at + 1}`, 40) : 'reward', reward, components, ...(errorIn(errors) && { error: errorIn(errors) }), info: { metrics } });
    }
    if (parts.length > 1) reader.problem(`the episode has ${parts.length} traces, each with a reward of its own: there is no reward of the whole`);
    return reader;
  },
};

/** Messages in the order of the file; one whose parent is not the message before it says so, since it begins a branch. */
async function addNodes(reader: DocumentReader, bytes: FileBytes, part: Outline): Promise<void> {
  const calls = await valueOf(bytes, part, 'calls');
  const byNode = new Map((Array.isArray(calls) ? calls : []).filter(isRecord).map((call) => [call.node, call]));
  const parents = new Map(part.all('nodes.*.parent').map(({ indexes, value }) => [indexes.at(-1)!, value]));
  const roles = new Map(part.all('nodes.*.message.role').map(({ indexes, value }) => [indexes.at(-1)!, value]));
  const groups: { start: number; end: number; node: number; role: unknown }[] = [];
  for (const [node, { start, end }] of part.all('nodes.*').entries()) {
    const open = groups.at(-1);
    if (open && isAssistant(open.role) && roles.get(node) === 'tool' && parents.get(node) === node - 1) open.end = end;
    else groups.push({ start, end, node, role: roles.get(node) });
  }
  const nodeAt = new Map(groups.map(({ node }, at) => [at, node]));
  const base = (await reader.head()).steps;
  const mapNode: Mapper = (value, context) => {
    const nodes = (value as unknown[]).filter(isRecord);
    const node = nodeAt.get(context.index - base) ?? 0;
    const described = describeMessages(nodes.map(({ message }) => message), context);
    const call = byNode.get(node);
    const parent = parents.get(node);
    const branches = typeof parent === 'number' && parent !== node - 1;
    const at = timeOf(nodes[0]?.timestamp);
    return {
      ...described,
      label: String(node),
      ...(branches && { title: titleOf(`(from ${parent}) ${described.title}`), info: { parent } }),
      ...(at !== undefined && { at }),
      ...(call && callFacts(call)),
    };
  };
  for (const group of groups) reader.add({ bytes, start: group.start, end: group.end, map: mapNode, elements: true });
}

/** Tokens, time and end of a model's call; its `prompt_tokens` leave out those from the cache. */
function callFacts(call: Json): Partial<StepDetail> {
  const usage = isRecord(call.usage) ? call.usage : {};
  const cached = numberOf(usage.cached_input_tokens);
  const prompt = numberOf(usage.prompt_tokens);
  const time = isRecord(call.time) ? call.time : {};
  const [from, to] = [timeOf(time.start), timeOf(time.end)];
  const error = errorIn(call.error);
  return {
    ...(prompt !== undefined && { tokens: { prompt: prompt + (cached ?? 0), completion: numberOf(usage.completion_tokens), ...(cached ? { cached } : {}) } }),
    ...(numberOf(usage.cost) !== undefined && { cost: numberOf(usage.cost) }),
    ...(from !== undefined && to !== undefined && { ms: to - from }),
    ...(error && { error }),
    model: { ...(textOf(call.model) && { model: textOf(call.model) }), ...(textOf(call.endpoint) && { url: textOf(call.endpoint) }), ...(textOf(call.finish_reason) && { finishReason: textOf(call.finish_reason) }) },
  };
}

export const verifiersTraces: TraceFormat = {
  id: 'verifiers',
  title: 'verifiers traces.jsonl',
  recognises: ({ keys }) => (keys.get('traces')?.type === 'list' && (keys.has('env') || keys.has('task'))) || (keys.get('nodes')?.type === 'list' && (keys.has('rewards') || keys.has('task'))),
  open: ({ file, more }, bytes, options) => openLine(traces, file, bytes!, more, options),
};

export const verifiersResults: TraceFormat = {
  id: 'verifiers-results',
  title: 'verifiers results.jsonl',
  recognises: ({ keys }) => keys.has('prompt') && keys.has('completion') && keys.has('reward'),
  open: ({ file, more }, bytes, options) => openLine(older, file, bytes!, more, options),
};
