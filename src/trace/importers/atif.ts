/**
 * Harbor's Agent Trajectory Interchange Format, 1.0 to 1.7 (https://github.com/harbor-framework/harbor, rfcs/0001-trajectory-format.md):
 * one JSON document, its continuations in files beside it, subagents inside it or in files beside it, images in files beside it.
 */
import { realpath } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { FileBytes, type Bytes, type Span } from '../bytes.js';
import { DocumentReader, type Described, type DocumentHead, type MapContext, type Mapper } from '../document.js';
import { Outline } from '../json/scan.js';
import { readInside, resolveInside } from '../inside.js';
import type { Part, Tokens, ToolCall } from '../model.js';
import { messageOf } from '../stepReader.js';
import { callTitle, compact, isRecord, numberOf, textOf, titleOf } from '../text.js';
import type { Probe, TraceFormat } from './format.js';
import { contentParts, imageIn, timeOf, titleOfParts } from './messages.js';

const REFS = 'steps.*.observation.results.*.subagent_trajectory_ref.*';
const PATTERNS = [
  '', 'schema_version', 'session_id', 'trajectory_id', 'agent.name', 'agent.version', 'agent.model_name', 'notes', 'steps.*', `${REFS}.trajectory_path`, `${REFS}.trajectory_id`, `${REFS}.session_id`,
  'final_metrics.total_prompt_tokens', 'final_metrics.total_completion_tokens', 'final_metrics.total_cached_tokens', 'final_metrics.total_cost_usd', 'final_metrics.total_steps',
  'continued_trajectory_ref', 'subagent_trajectories.*', 'subagent_trajectories.*.trajectory_id', 'subagent_trajectories.*.session_id',
];
const MOST_FILES = 200;
const MOST_DEPTH = 8;

const IMAGE_TYPES: Record<string, string> = { '.png': 'image/png', '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.gif': 'image/gif', '.webp': 'image/webp' };

/** A document, with all that it refers to, as steps of one reader. */
export async function readAtif(file: string, bytes: FileBytes, about: Partial<DocumentHead> = {}, signal?: AbortSignal): Promise<DocumentReader> {
  const span = { start: 0, end: bytes.size };
  const outline = await Outline.of(bytes, span, PATTERNS, signal);
  const tokens = outline.value('continued_trajectory_ref') ? undefined : totals(outline);
  const cost = outline.value('continued_trajectory_ref') ? undefined : outline.number('final_metrics.total_cost_usd');
  const agent = [outline.text('agent.name'), outline.text('agent.version')].filter(Boolean).join(' ');
  const reader = new DocumentReader({
    format: 'atif',
    version: (outline.text('schema_version') ?? '').replace(/^ATIF-v?/, '') || undefined,
    title: outline.text('session_id') ?? outline.text('trajectory_id') ?? file.split(/[\\/]/).at(-1)!,
    ...(agent && { agent }),
    ...(outline.text('agent.model_name') && { model: outline.text('agent.model_name') }),
    ...(tokens && { tokens }),
    ...(cost !== undefined && { cost }),
    ...(outline.text('notes') && { extra: { notes: outline.text('notes') } }),
    end: { status: 'unknown', reason: 'the format does not say' },
    ...about,
  });
  const folder = dirname(file);
  reader.withBlobs((ref) => {
    const type = IMAGE_TYPES[extname(ref).toLowerCase()];
    if (!type) return Promise.reject(new Error(`"${titleOf(ref, 80)}" is no image`));
    return readInside(folder, ref);
  });
  reader.hold(bytes);
  try {
    await new Plan(reader, folder, signal).add(file, bytes, span, outline, 0);
  } catch (error) {
    await reader.close();
    throw error;
  }
  return reader;
}

function totals(outline: Outline): Tokens | undefined {
  const [prompt, completion, cached] = ['prompt', 'completion', 'cached'].map((name) => outline.number(`final_metrics.total_${name}_tokens`));
  return prompt === undefined && completion === undefined ? undefined : { ...(prompt !== undefined && { prompt }), ...(completion !== undefined && { completion }), ...(cached ? { cached } : {}) };
}

/** Walks documents and what they refer to. No file is read twice, so that references in a circle end. */
class Plan {
  private readonly seen = new Set<string>();

  constructor(
    private readonly reader: DocumentReader,
    private readonly folder: string,
    private readonly signal: AbortSignal | undefined,
  ) {}

  async add(file: string, bytes: Bytes, span: Span, outline: Outline, depth: number): Promise<void> {
    this.seen.add(await realpath(file));
    const name = file.split(/[\\/]/).at(-1)!;
    if (!outline.whole) this.reader.problem(`${name} ends in the middle: its last part is not shown`);
    if (!outline.all('steps.*').length) this.reader.problem(`${name} has no steps`);
    const map = mapper(depth);
    const embedded = outline.all('subagent_trajectories.*');
    const used = new Set<number>();
    const named = (id: unknown): number | undefined =>
      ['trajectory_id', 'session_id'].flatMap((key) => outline.all(`subagent_trajectories.*.${key}`)).find((found) => found.value === id && id !== undefined)?.indexes[0];
    const refs = refsByStep(outline);
    for (const [index, step] of outline.all('steps.*').entries()) {
      this.reader.add({ bytes, start: step.start, end: step.end, map });
      for (const ref of refs.get(index) ?? []) {
        const inner = named(ref.trajectory_id) ?? named(ref.session_id);
        if (inner !== undefined && !used.has(inner)) {
          used.add(inner);
          await this.addEmbedded(file, bytes, embedded[inner]!, depth + 1);
        } else if (typeof ref.trajectory_path === 'string') await this.addFile(ref.trajectory_path, 'subagent', depth + 1);
      }
    }
    for (const [index, inner] of embedded.entries()) if (!used.has(index)) await this.addEmbedded(file, bytes, inner, depth + 1);
    const next = outline.text('continued_trajectory_ref');
    if (next !== undefined) await this.addFile(next, 'continuation', depth);
  }

  private async addEmbedded(file: string, bytes: Bytes, span: Span, depth: number): Promise<void> {
    if (depth > MOST_DEPTH) return this.reader.problem(`subagents deeper than ${MOST_DEPTH} levels are not shown`);
    await this.add(file, bytes, span, await Outline.of(bytes, span, PATTERNS, this.signal), depth);
  }

  private async addFile(path: string, what: 'subagent' | 'continuation', depth: number): Promise<void> {
    const shown = titleOf(path, 80);
    if (depth > MOST_DEPTH) return this.reader.problem(`the ${what} "${shown}" is not shown: deeper than ${MOST_DEPTH} levels`);
    let bytes: FileBytes | undefined;
    try {
      const file = await resolveInside(this.folder, path);
      if (this.seen.has(file)) return this.reader.problem(`the ${what} "${shown}" was shown before: the references go in a circle`);
      if (this.seen.size >= MOST_FILES) return this.reader.problem(`the ${what} "${shown}" is not shown: more than ${MOST_FILES} files`);
      bytes = await FileBytes.open(file);
      const span = { start: 0, end: bytes.size };
      const outline = await Outline.of(bytes, span, PATTERNS, this.signal);
      if (!outline.text('schema_version')?.startsWith('ATIF')) throw new Error('it is no ATIF document');
      this.reader.hold(bytes);
      await this.add(file, bytes, span, outline, depth);
    } catch (error) {
      await bytes?.close().catch(() => undefined);
      this.reader.problem(`the ${what} "${shown}" cannot be read: ${messageOf(error)}`);
    }
  }
}

/** References to subagents, by the step that has them. */
function refsByStep(outline: Outline): Map<number, Record<string, unknown>[]> {
  const refs = new Map<string, { step: number; ref: Record<string, unknown> }>();
  for (const key of ['trajectory_path', 'trajectory_id', 'session_id'])
    for (const { indexes, value } of outline.all(`${REFS}.${key}`)) {
      const id = indexes.join('.');
      const known = refs.get(id) ?? { step: indexes[0]!, ref: {} };
      known.ref[key] = value;
      refs.set(id, known);
    }
  const result = new Map<number, Record<string, unknown>[]>();
  for (const { step, ref } of refs.values()) result.set(step, [...(result.get(step) ?? []), ref]);
  return result;
}

const mappers: Mapper[] = [];
/** One for each depth: steps that lie together share it. */
const mapper = (depth: number): Mapper => (mappers[depth] ??= (value, context) => describe(value, depth, context));

function partsOf(content: unknown, type: 'terminal' | 'text', context: MapContext): Part[] {
  if (!Array.isArray(content)) return contentParts(content, type, context);
  return content.flatMap((part: unknown) => {
    const source = isRecord(part) && part.type === 'image' && isRecord(part.source) ? part.source : undefined;
    if (!source || typeof source.path !== 'string') return contentParts([part], type, context);
    if (/^[a-z][a-z0-9+.-]+:/i.test(source.path)) return contentParts([{ type: 'image_url', image_url: source.path }], type, context);
    return [{ type: 'image', image: { blob: source.path, mediaType: textOf(source.media_type) ?? 'image/png' } } satisfies Part];
  });
}

function describe(value: unknown, depth: number, context: MapContext): Described {
  if (!isRecord(value)) throw new Error('a step is no object');
  const source = value.source === 'system' || value.source === 'user' ? value.source : 'agent';
  const message = partsOf(value.message, 'text', context);
  const results = isRecord(value.observation) && Array.isArray(value.observation.results) ? value.observation.results.filter(isRecord) : [];
  const taken = new Set<unknown>();
  const calls = (Array.isArray(value.tool_calls) ? value.tool_calls : []).filter(isRecord).map((call): ToolCall => {
    const result = results.find((one) => one.source_call_id !== undefined && one.source_call_id !== null && one.source_call_id === call.tool_call_id);
    if (result) taken.add(result);
    return { ...(typeof call.tool_call_id === 'string' && { id: call.tool_call_id }), name: textOf(call.function_name) ?? 'tool', arguments: call.arguments, result: result ? partsOf(result.content, 'terminal', context) : [] };
  });
  const rest = results.filter((one) => !taken.has(one)).flatMap((one) => partsOf(one.content, 'terminal', context));
  const metrics = isRecord(value.metrics) ? value.metrics : {};
  const [prompt, completion, cached] = [numberOf(metrics.prompt_tokens), numberOf(metrics.completion_tokens), numberOf(metrics.cached_tokens)];
  const reasoning = partsOf(value.reasoning_content, 'text', context);
  const at = timeOf(value.timestamp);
  const copied = value.is_copied_context === true;
  const [first] = calls;
  const title = first ? titleOf(callTitle(first.name, first.arguments) + (calls.length > 1 ? ` (+${calls.length - 1})` : '')) : titleOfParts([message, reasoning, rest].find((parts) => parts.length) ?? []);
  const info = { ...(isRecord(value.extra) && { extra: value.extra }), ...(isRecord(metrics.extra) && { metrics: metrics.extra }), ...(copied && { is_copied_context: true }), ...(value.llm_call_count !== undefined && { llm_call_count: value.llm_call_count }) };
  const error = results.map((one) => (isRecord(one.extra) ? one.extra.isError === true || one.extra.is_error === true : false)).some(Boolean) ? 'the tool failed' : undefined;
  return {
    label: titleOf(compact(value.step_id ?? context.index + 1), 40),
    source,
    kind: source !== 'agent' ? 'message' : first ? 'tool' : rest.length ? 'action' : 'model',
    title: copied ? titleOf(`(copied) ${title}`) : title,
    ...(at !== undefined && { at }),
    ...(!copied && (prompt !== undefined || completion !== undefined) && { tokens: { ...(prompt !== undefined && { prompt }), ...(completion !== undefined && { completion }), ...(cached ? { cached } : {}) } }),
    ...(!copied && numberOf(metrics.cost_usd) !== undefined && { cost: numberOf(metrics.cost_usd) }),
    ...imageIn([...message, ...rest, ...calls.flatMap((call) => call.result)]),
    ...(depth && { depth }),
    ...(error && { error }),
    ...(reasoning.length && { reasoning }),
    ...(message.length && { message }),
    ...(calls.length && { calls }),
    ...(rest.length && { observation: rest }),
    ...(Object.keys(info).length && { info }),
    ...(typeof value.model_name === 'string' && { model: { model: value.model_name } }),
  };
}

export const isAtif = (keys: Probe['keys']): boolean => textOf(keys.get('schema_version')?.value)?.startsWith('ATIF') ?? false;

export const atif: TraceFormat = {
  id: 'atif',
  title: 'ATIF',
  recognises: ({ keys }) => isAtif(keys),
  open: async ({ file }, bytes, { signal }) => (await readAtif(file, bytes!, {}, signal)).ready(),
};
