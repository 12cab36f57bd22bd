/** Chat messages as OpenAI, Anthropic and those who follow them write them. */
import type { Described, MapContext } from '../document.js';
import type { Found, Outline } from '../json/scan.js';
import type { Part, StepSource, Tokens, ToolCall } from '../model.js';
import { callTitle, compact, isRecord, numberOf, textOf, titleOf } from '../text.js';

/** Milliseconds since the epoch from an ISO date, or from a number of seconds or milliseconds. A date without a zone is UTC. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value < 1e11 ? value * 1000 : value;
  if (typeof value !== 'string') return undefined;
  const time = Date.parse(/\d{2}:\d{2}/.test(value) && !/(Z|[+-]\d{2}:?\d{2})$/i.test(value) ? `${value}Z` : value);
  return Number.isNaN(time) ? undefined : time;
}

/** Arguments of a call: JSON in a text where it is that, else the text. */
export function argumentsOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

const DATA_URL = /^data:(image\/[a-z+.-]+);base64,/i;

/** An image in the value itself; only named, where it lies elsewhere on the network. */
export function imagePart(url: string, context: MapContext): Part {
  const type = DATA_URL.exec(url);
  if (type) return { type: 'image', image: context.inline(type[1]!.toLowerCase(), url.slice(type[0].length)) };
  return { type: 'text', text: `[image: ${titleOf(url)}]` };
}

/** Content of a message: a text, or parts of several kinds; thinking is left to `reasoningOf`. */
export function contentParts(content: unknown, type: 'terminal' | 'text', context: MapContext): Part[] {
  if (content === null || content === undefined || content === '') return [];
  if (typeof content === 'string') return [{ type, text: content }];
  if (!Array.isArray(content)) return isRecord(content) && typeof content.text === 'string' ? [{ type, text: content.text }] : [{ type: 'json', value: content }];
  return content.flatMap((part: unknown): Part[] => {
    if (typeof part === 'string') return [{ type, text: part }];
    if (!isRecord(part)) return [{ type: 'json', value: part }];
    if (typeof part.text === 'string') return part.text ? [{ type, text: part.text }] : [];
    switch (part.type) {
      case 'image_url':
        return [imagePart(textOf(isRecord(part.image_url) ? part.image_url.url : part.image_url) ?? '', context)];
      case 'image':
        if (typeof part.image === 'string') return [imagePart(part.image, context)];
        if (isRecord(part.source) && typeof part.source.data === 'string') return [{ type: 'image', image: context.inline(textOf(part.source.media_type) ?? 'image/png', part.source.data) }];
        return [{ type: 'json', value: part }];
      case 'tool_use':
      case 'reasoning':
      case 'thinking':
        return [];
      case 'tool_result':
        return contentParts(part.content, 'terminal', context);
      default:
        return [{ type: 'json', value: part }];
    }
  });
}

function reasoningOf(message: Record<string, unknown>): Part[] {
  const own = textOf(message.reasoning_content) ?? textOf(message.reasoning) ?? textOf(message.thought);
  const parts = Array.isArray(message.content) ? message.content.filter(isRecord).map((part) => textOf(part.reasoning) ?? textOf(part.thinking)) : [];
  return [own, ...parts].flatMap((text): Part[] => (text && text !== message.content ? [{ type: 'text', text }] : []));
}

function rawCalls(message: Record<string, unknown>): { id?: string; name: string; arguments: unknown }[] {
  const listed: unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : isRecord(message.function_call) ? [{ function: message.function_call }] : [];
  const used = Array.isArray(message.content) ? message.content.filter(isRecord).filter((part) => part.type === 'tool_use') : [];
  return [...listed, ...used].filter(isRecord).map((call) => {
    const inner = isRecord(call.function) ? call.function : call;
    return {
      ...(typeof call.id === 'string' && { id: call.id }),
      name: textOf(inner.name) ?? textOf(call.function) ?? 'tool',
      arguments: argumentsOf(inner.arguments ?? call.input ?? {}),
    };
  });
}

export function tokensOf(usage: unknown): Tokens | undefined {
  if (!isRecord(usage)) return undefined;
  const details = usage.prompt_tokens_details ?? usage.input_tokens_details;
  const prompt = numberOf(usage.prompt_tokens) ?? numberOf(usage.input_tokens);
  const completion = numberOf(usage.completion_tokens) ?? numberOf(usage.output_tokens);
  const cached = numberOf(usage.cached_tokens) ?? (isRecord(details) ? numberOf(details.cached_tokens) : undefined);
  return prompt === undefined && completion === undefined ? undefined : { ...(prompt !== undefined && { prompt }), ...(completion !== undefined && { completion }), ...(cached ? { cached } : {}) };
}

const SOURCES: Record<string, StepSource> = { system: 'system', developer: 'system', user: 'user', human: 'user', assistant: 'agent', gpt: 'agent', model: 'agent' };
export const isAssistant = (role: unknown): boolean => typeof role === 'string' && SOURCES[role] === 'agent';
const isResult = (role: unknown): boolean => role === 'tool' || role === 'function' || role === 'observation';

/** One message, or an assistant's with what its tools gave back. */
export function describeMessages(messages: readonly unknown[], context: MapContext): Described {
  const known = messages.filter(isRecord);
  const [message, ...results] = known;
  if (!message) return { label: '?', source: 'system', kind: 'error', title: 'no message', error: 'no message', info: messages };
  const role = textOf(message.role) ?? textOf(message.from) ?? '?';
  const content = message.content ?? message.value;
  const at = timeOf(message.timestamp);
  const timed = at === undefined ? {} : { at };
  if (!isAssistant(role)) {
    const parts = contentParts(content, isResult(role) ? 'terminal' : 'text', context);
    return { label: role, source: SOURCES[role] ?? 'environment', kind: isResult(role) ? 'tool' : 'message', title: titleOfParts(parts), ...timed, ...imageIn(parts), ...(isResult(role) ? { observation: parts } : { message: parts }) };
  }
  const said = contentParts(content, 'text', context);
  const taken = new Set<Record<string, unknown>>();
  const calls = rawCalls(message).map((call): ToolCall => {
    const result = results.find((one) => !taken.has(one) && call.id !== undefined && (one.tool_call_id === call.id || (Array.isArray(one.tool_call_ids) && one.tool_call_ids.includes(call.id)))) ?? results.find((one) => !taken.has(one) && one.tool_call_id === undefined);
    if (result) taken.add(result);
    return { ...call, result: result ? contentParts(result.content ?? result.value, 'terminal', context) : [], ...errorOf(result) };
  });
  const rest = results.filter((one) => !taken.has(one)).flatMap((one) => contentParts(one.content ?? one.value, 'terminal', context));
  const reasoning = reasoningOf(message);
  const tokens = tokensOf(message.usage);
  const error = calls.find((call) => call.error)?.error;
  const [first] = calls;
  return {
    label: role,
    source: 'agent',
    kind: first ? 'tool' : rest.length ? 'action' : 'model',
    title: first ? titleOf(callTitle(first.name, first.arguments) + (calls.length > 1 ? ` (+${calls.length - 1})` : '')) : titleOfParts(said.length ? said : reasoning),
    ...timed,
    ...imageIn([...said, ...rest, ...calls.flatMap((call) => call.result)]),
    ...(tokens && { tokens }),
    ...(error && { error }),
    ...(reasoning.length && { reasoning }),
    message: said,
    ...(calls.length && { calls }),
    ...(rest.length && { observation: rest }),
  };
}

function errorOf(result: Record<string, unknown> | undefined): { error?: string } {
  const error = result?.error;
  if (!error) return {};
  return { error: titleOf(isRecord(error) ? (textOf(error.message) ?? compact(error)) : compact(error)) };
}

export const imageIn = (parts: readonly Part[]): { image?: true } => (parts.some((part) => part.type === 'image') ? { image: true } : {});

export function titleOfParts(parts: readonly Part[]): string {
  const [first] = parts;
  if (!first) return '(nothing)';
  return first.type === 'image' ? '(image)' : first.type === 'long' ? titleOf(first.content.head ?? '') : titleOf(first.type === 'json' ? compact(first.value) : first.text) || '(nothing)';
}

/** Whether a message belongs to the step that the one before it began. */
export type Joins = (role: string, message: Found, opened: string) => boolean;

const joinsResults: Joins = (role, _message, opened) => isResult(role) && isAssistant(opened);

/** Ranges of the steps in a list of messages, by the roles that the outline has under `<list>.*.role` (or `.from`); `''` is a list at the top. */
export function groupMessages(outline: Outline, list: string, joins: Joins = joinsResults): { start: number; end: number; role: string }[] {
  const roles = new Map<number, string>();
  const prefix = list && `${list}.`;
  for (const pattern of [`${prefix}*.role`, `${prefix}*.from`]) for (const { indexes, value } of outline.all(pattern)) if (typeof value === 'string') roles.set(indexes[0]!, value);
  const groups: { start: number; end: number; role: string }[] = [];
  for (const [index, found] of outline.all(`${prefix}*`).entries()) {
    const role = roles.get(index) ?? '?';
    const open = groups.at(-1);
    if (open && joins(role, found, open.role)) open.end = found.end;
    else groups.push({ start: found.start, end: found.end, role });
  }
  return groups;
}
