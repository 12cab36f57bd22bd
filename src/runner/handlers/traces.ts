/** What the runner answers about traces. A trace is named by its file in each request, so that nothing is lost when the runner starts anew. */
import { TraceComparisons } from '../../engine/compareTraces.js';
import { solutionOf } from '../../engine/solution.js';
import { placeText } from '../../engine/traceText.js';
import { MOST_HITS, MOST_RAW_BYTES, type SearchHit } from '../../protocol/traceView.js';
import type { TraceRequests } from '../api.js';
import type { HandlersOf, Services } from './handlers.js';

/** Hits wait so long for others to go with them, ms; the first goes at once. */
const HITS_MS = 50;

export function traceHandlers({ traces }: Services): HandlersOf<keyof TraceRequests> {
  const comparisons = new TraceComparisons(traces);
  return {
    'trace/open': ({ trace }) => traces.opened(trace),
    'trace/refresh': ({ trace, always }) => traces.refresh(trace, always),
    'trace/summaries': ({ trace, from, to }, { signal }) => traces.use(trace, (reader) => reader.summaries(from, to, signal)),
    'trace/step': ({ trace, step }, { signal }) => traces.use(trace, (reader) => reader.step(step, signal)),
    'trace/raw': ({ trace, step, maxBytes = MOST_RAW_BYTES }) => traces.use(trace, (reader) => reader.raw(step, maxBytes)),
    'trace/blob': ({ trace, ref }) => traces.use(trace, async (reader) => Buffer.from(await reader.blob(ref)).toString('base64')),
    'trace/text': ({ trace, step, place }, { signal }) => traces.use(trace, (reader) => placeText(reader, step, place, signal)),
    'trace/solution': async ({ trace }) => ({ text: await solutionOf(trace.file) }),
    'trace/timeline': ({ trace, bins }) => traces.use(trace, (reader) => reader.timeline(bins)),
    'trace/nextError': ({ trace, from, direction }) => traces.use(trace, async (reader) => (await reader.nextError(from, direction)) ?? null),
    'trace/search': ({ trace, search, text }, { signal, session }) =>
      traces.use(trace, async (reader) => {
        let hits = 0;
        let batch: SearchHit[] = [];
        let sent = 0;
        const flush = () => {
          if (batch.length > 0) session.send('trace/hits', { search, hits: batch });
          batch = [];
          sent = performance.now();
        };
        for await (const hit of reader.search(text, signal)) {
          batch.push(hit);
          hits++;
          if (performance.now() - sent >= HITS_MS) flush();
          if (hits >= MOST_HITS || signal.aborted) break;
        }
        signal.throwIfAborted();
        flush();
        return { hits, complete: hits < MOST_HITS };
      }),
    'trace/compare': ({ a, b }, { signal }) => comparisons.compare({ a, b }, signal),
    'trace/comparedRows': ({ a, b, from, to }, { signal }) => comparisons.rows({ a, b }, from, to, signal),
    'trace/nextDifference': ({ a, b, query }, { signal }) => comparisons.nextDifference({ a, b }, query, signal),
    'trace/close': async ({ trace }) => {
      await traces.close(trace);
      return null;
    },
  };
}
