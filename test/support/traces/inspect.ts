/** Inspect logs of the project's own making, in each shape. */
import { zipOf, type ZipPart } from './zip.js';

const IMAGE = 'iVBORw0KGgo=';

export const events = [
  { event: 'span_begin', timestamp: '2025-01-01T00:00:00+00:00', id: 's', name: 'init' },
  { event: 'sample_init', timestamp: '2025-01-01T00:00:00+00:00', sample: { id: 1, input: [{ role: 'user', content: [{ type: 'text', text: 'attachment://a1' }, { type: 'image', image: 'attachment://a2' }] }], target: '42' }, state: {} },
  { event: 'state', timestamp: '2025-01-01T00:00:00+00:00', changes: [] },
  {
    event: 'model', timestamp: '2025-01-01T00:00:01+00:00', completed: '2025-01-01T00:00:03+00:00', model: 'open/tiny', input: [], input_refs: [[0, 1]], config: { temperature: 0, top_p: null }, tools: [],
    output: { choices: [{ message: { role: 'assistant', content: [{ type: 'reasoning', reasoning: 'Let me see.' }, { type: 'text', text: 'Counting.' }], tool_calls: [{ id: 'c1', function: 'bash', arguments: { cmd: 'wc -l' } }] }, stop_reason: 'tool_calls' }], usage: { input_tokens: 10, output_tokens: 4 } },
  },
  { event: 'sandbox', timestamp: '2025-01-01T00:00:03+00:00', action: 'exec', cmd: 'wc -l', result: 1 },
  { event: 'tool', timestamp: '2025-01-01T00:00:03+00:00', completed: '2025-01-01T00:00:04+00:00', id: 'c1', function: 'bash', arguments: { cmd: 'wc -l' }, result: 'attachment://a3', error: { type: 'timeout', message: 'took too long' } },
  { event: 'span_end', timestamp: '2025-01-01T00:00:04+00:00', id: 's' },
  { event: 'score', timestamp: '2025-01-01T00:00:05+00:00', score: { value: 'P', answer: '41', explanation: 'close' }, target: '42' },
];

export const attachments = { a1: 'How many lines does the long question have?', a2: `data:image/png;base64,${IMAGE}`, a3: '\u001b[32m41 lines\u001b[0m' };

export const sample = (id: number, more: object = {}): object => ({
  id, epoch: 1, input: 'q', target: '42', messages: [{ role: 'user', content: 'attachment://a1' }, { role: 'assistant', content: '41' }], output: { model: 'tiny' },
  scores: { check: { value: 'P', answer: '41' } }, events, attachments, events_data: { messages: [{ role: 'user', content: 'attachment://a1' }], calls: [] }, model_usage: { 'open/tiny': { input_tokens: 10, output_tokens: 4, total_cost: 0.5 } }, ...more,
});

const header = { version: 2, status: 'success', eval: { task: 'count', model: 'open/tiny' }, results: {} };
const summary = (id: number): object => ({ id, epoch: 1, scores: { check: { value: 'P' } } });
const json = (name: string, value: unknown, method: ZipPart['method']): ZipPart => ({ name, data: JSON.stringify(value), method });

export function evalFile({ method = 'deflate', zip64 = false, unfinished = false, ids = [2, 1, 10] }: { method?: ZipPart['method']; zip64?: boolean; unfinished?: boolean; ids?: number[] } = {}): Buffer {
  const samples = ids.map((id) => json(`samples/${id}_epoch_1.json`, sample(id), method));
  const journal = [json('_journal/start.json', { version: 2, eval: header.eval }, method), json('_journal/summaries/1.json', ids.map(summary), method)];
  return zipOf([...journal, ...samples, ...(unfinished ? [] : [json('summaries.json', ids.map(summary), method), json('header.json', header, method)])], { zip64 });
}

/** The shape in which each list of a sample lies in chunks of two items. */
export function chunkedEval(): Buffer {
  const keys = Object.keys(attachments);
  const numbered = JSON.parse(JSON.stringify(events).replace(/attachment:\/\/(a\d)/g, (_, key: string) => `attachment://${keys.indexOf(key)}`)) as unknown[];
  const chunks = (list: string, items: readonly unknown[]): ZipPart[] =>
    Array.from({ length: Math.ceil(items.length / 2) }, (_, index) => json(`samples/1_epoch_1/${list}/${index * 2}.json`, items.slice(index * 2, index * 2 + 2), 'zstd'));
  const { events: _e, attachments: _a, events_data: _d, messages: _m, ...facts } = sample(1) as Record<string, unknown>;
  return zipOf([json('header.json', header, 'zstd'), json('summaries.json', [summary(1)], 'zstd'), json('samples/1_epoch_1/sample.json', facts, 'zstd'), ...chunks('events', numbered), ...chunks('messages', [{ role: 'user', content: 'attachment://0' }]), ...chunks('attachments', Object.values(attachments))]);
}

export const jsonLog = (more: object = {}): string => JSON.stringify({ ...header, samples: [sample(1, more), sample(2)] });
