/** One sample of an Inspect log as a trace: in one JSON value, or in chunks of several. */
import type { Bytes, Span } from '../../bytes.js';
import { DocumentReader, type DocumentHead, type Mapper } from '../../document.js';
import { readJson } from '../../json/prune.js';
import { Outline } from '../../json/scan.js';
import type { TraceEnd } from '../../model.js';
import { compact, isRecord, numberOf, textOf, titleOf } from '../../text.js';
import { describeMessages, groupMessages, timeOf, tokensOf } from '../messages.js';
import { eventMapper, groupEvents } from './events.js';
import { componentsOf, Pools, type Place } from './pools.js';

const LISTS = ['events.*', 'events.*.event', 'transcript.events.*', 'transcript.events.*.event', 'messages.*', 'messages.*.role', 'attachments.*', 'transcript.content.*', 'events_data.messages.*'];
const FACTS = ['', 'id', 'epoch', 'scores', 'model_usage', 'output.model', 'started_at', 'completed_at', 'total_time', 'error', 'limit', 'uuid', 'metadata', 'target'];

/** Where the parts of a sample lie. */
export interface SampleParts {
  readonly facts: Outline;
  readonly bytes: Bytes;
  readonly events: readonly (Place & { readonly event: string })[];
  readonly messages: readonly (Place & { readonly role: string })[];
  readonly attachments: ReadonlyMap<string, Place>;
  readonly pool: readonly Place[];
}

/** A sample that is one JSON value. */
export async function wholeSample(bytes: Bytes, span: Span, signal?: AbortSignal): Promise<SampleParts> {
  const facts = await Outline.of(bytes, span, [...FACTS, ...LISTS], signal);
  const list = facts.all('events.*').length ? 'events' : 'transcript.events';
  const attachments = new Map([...facts.all('transcript.content.*'), ...facts.all('attachments.*')].map(({ key, start, end }) => [String(key), { bytes, start, end }]));
  return {
    facts,
    bytes,
    events: eventsIn(facts, list, bytes),
    messages: groupMessages(facts, 'messages').map((group) => ({ ...group, bytes })),
    attachments,
    pool: facts.all('events_data.messages.*').map(({ start, end }) => ({ bytes, start, end })),
  };
}

export function eventsIn(outline: Outline, list: string, bytes: Bytes): (Place & { event: string })[] {
  const prefix = list && `${list}.`;
  const kinds = new Map(outline.all(`${prefix}*.event`).map(({ indexes, value }) => [indexes[0], value]));
  const events = outline.all(`${prefix}*`).map(({ start, end }, index) => ({ start, end, event: textOf(kinds.get(index)) ?? '?' }));
  return groupEvents(events).map((group) => ({ ...group, bytes }));
}

export const factPatterns = [...FACTS];

/** `head` is what the log says of all its samples. */
export async function readSample(parts: SampleParts, head: Omit<DocumentHead, 'end' | 'title'> & { readonly logStatus?: string }): Promise<DocumentReader> {
  const { facts, bytes } = parts;
  const value = async (pattern: string): Promise<unknown> => {
    const found = facts.all(pattern)[0];
    return found && (await readJson(bytes, found)).value;
  };
  const pools = new Pools(parts.attachments, parts.pool);
  const components = componentsOf(await pools.resolve(await value('scores')));
  const [error, limit, usage] = [await value('error'), await value('limit'), await value('model_usage')];
  const { logStatus, ...about } = head;
  const tokens = isRecord(usage) ? Object.values(usage).map(tokensOf).filter((one) => one !== undefined) : [];
  const sum = (key: 'prompt' | 'completion' | 'cached'): number => tokens.reduce((total, one) => total + (one[key] ?? 0), 0);
  const costs = isRecord(usage) ? Object.values(usage).flatMap((one) => (isRecord(one) ? (numberOf(one.total_cost) ?? []) : [])) : [];
  const reader = new DocumentReader({
    ...about,
    title: titleOf(`${about.task ?? 'sample'} · sample ${compact(facts.value('id') ?? '?')} · epoch ${compact(facts.value('epoch') ?? 1)}`),
    ...(timeOf(facts.value('started_at')) !== undefined && { startedAt: timeOf(facts.value('started_at')) }),
    ...(timeOf(facts.value('completed_at')) !== undefined && { endedAt: timeOf(facts.value('completed_at')) }),
    ...(tokens.length && { tokens: { prompt: sum('prompt'), completion: sum('completion'), ...(sum('cached') && { cached: sum('cached') }) } }),
    ...(costs.length && { cost: costs.reduce((total, one) => total + one, 0) }),
    reward: components.length === 1 ? components[0]!.value : null,
    ...(components.length && { components }),
    end: endOf(error, limit, components.length > 0, logStatus),
    extra: { target: await value('target'), metadata: await value('metadata'), uuid: facts.value('uuid') },
  }, { refersElsewhere: parts.attachments.size > 0 });
  if (!facts.whole) reader.problem('the sample ends in the middle: its last part is not shown');
  const map = eventMapper(pools);
  for (const event of parts.events) reader.add({ ...event, map, elements: true });
  if (!parts.events.length) {
    if (parts.messages.length) reader.problem('the sample has no events: its messages are shown');
    const messages: Mapper = async (list, context) => describeMessages((await pools.resolve(list)) as unknown[], context);
    for (const group of parts.messages) reader.add({ ...group, map: messages, elements: true });
  }
  return reader;
}

function endOf(error: unknown, limit: unknown, scored: boolean, logStatus: string | undefined): TraceEnd {
  if (isRecord(error)) return { status: 'error', reason: titleOf(textOf(error.message) ?? 'error') };
  if (isRecord(limit)) return { status: 'truncated', reason: titleOf(`limit: ${compact(limit.type)} ${compact(limit.limit)}`) };
  if (logStatus === 'cancelled' && !scored) return { status: 'cancelled' };
  return scored || logStatus === 'success' ? { status: 'completed' } : { status: 'unknown', reason: 'the sample was not scored' };
}
