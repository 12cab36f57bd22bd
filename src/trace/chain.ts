/** Several traces behind one another as one; what is said of the whole is what the first one says. */
import type { SearchHit, StepDetail, StepSummary, TimelineBin, TraceHead, TraceReader } from './model.js';

const LINK = /^link:(\d+):/s;

export class ChainReader implements TraceReader {
  constructor(private readonly readers: readonly TraceReader[]) {}

  async head(): Promise<TraceHead> {
    const heads = await Promise.all(this.readers.map((reader) => reader.head()));
    const indexed = heads.some((head) => head.indexed !== undefined) ? Math.min(...heads.map((head) => head.indexed ?? 1)) : undefined;
    return {
      ...heads[0]!,
      ...(indexed !== undefined && { indexed }),
      steps: heads.reduce((sum, head) => sum + head.steps, 0),
      problems: heads.flatMap((head) => head.problems),
    };
  }

  async summaries(from: number, to: number, signal?: AbortSignal): Promise<readonly StepSummary[]> {
    const result: StepSummary[] = [];
    for (const { reader, first, steps } of await this.links())
      if (from < first + steps && to > first) for (const step of await reader.summaries(Math.max(0, from - first), Math.min(steps, to - first), signal)) result.push({ ...step, index: step.index + first });
    return result;
  }

  async step(index: number, signal?: AbortSignal): Promise<StepDetail> {
    const { reader, first, at } = await this.link(index);
    const step = await reader.step(index - first, signal);
    return { ...mapBlobs(step, at), index };
  }

  async raw(index: number, maxBytes?: number): Promise<{ readonly text: string; readonly bytes: number }> {
    const { reader, first } = await this.link(index);
    return reader.raw(index - first, maxBytes);
  }

  blob(ref: string): Promise<Uint8Array> {
    const match = LINK.exec(ref);
    const reader = match ? this.readers[Number(match[1])] : undefined;
    return reader ? reader.blob(ref.slice(match![0].length)) : Promise.reject(new Error('the trace has no such part'));
  }

  async start(): Promise<number> {
    const starts = [];
    for (const { reader, first, steps } of await this.links()) if (steps) starts.push({ at: first + (await reader.start()), error: (await reader.nextError(-1, 1)) !== undefined });
    return (starts.find(({ error }) => error) ?? starts.at(-1))?.at ?? 0;
  }

  async settled(signal?: AbortSignal): Promise<void> {
    await Promise.all(this.readers.map((reader) => reader.settled(signal)));
  }

  async nextError(from: number, direction: 1 | -1): Promise<number | undefined> {
    const links = await this.links();
    for (const { reader, first, steps } of direction === 1 ? links : links.reverse()) {
      if (direction === 1 ? from >= first + steps - 1 : from <= first) continue;
      const found = await reader.nextError(direction === 1 ? Math.max(-1, from - first) : Math.min(steps, from - first), direction);
      if (found !== undefined) return first + found;
    }
    return undefined;
  }

  async timeline(bins: number): Promise<readonly TimelineBin[]> {
    const links = (await this.links()).filter(({ steps }) => steps > 0);
    const total = links.reduce((sum, { steps }) => sum + steps, 0);
    const result: TimelineBin[] = [];
    for (const { reader, first, steps } of links) {
      const before = result.at(-1);
      for (const bin of await reader.timeline(Math.max(1, Math.round((bins * steps) / total))))
        result.push({ ...bin, first: bin.first + first, last: bin.last + first, from: bin.from + (before?.to ?? 0), to: bin.to + (before?.to ?? 0), ...((bin.reward !== undefined || before?.reward !== undefined) && { reward: (bin.reward ?? 0) + (before?.reward ?? 0) }) });
    }
    return result;
  }

  async *search(text: string, signal?: AbortSignal): AsyncIterable<SearchHit> {
    for (const { reader, first } of await this.links()) for await (const hit of reader.search(text, signal)) yield { ...hit, step: hit.step + first };
  }

  async refresh(): Promise<boolean> {
    const changed = await Promise.all(this.readers.map((reader) => reader.refresh()));
    return changed.includes(true);
  }

  async close(): Promise<void> {
    await Promise.all(this.readers.map((reader) => reader.close()));
  }

  private async links(): Promise<{ reader: TraceReader; first: number; steps: number; at: number }[]> {
    let first = 0;
    const links = [];
    for (const [at, reader] of this.readers.entries()) {
      const { steps } = await reader.head();
      links.push({ reader, first, steps, at });
      first += steps;
    }
    return links;
  }

  private async link(index: number): Promise<{ reader: TraceReader; first: number; at: number }> {
    const found = (await this.links()).find(({ first, steps }) => index >= first && index < first + steps);
    if (!found) throw new RangeError(`there is no step ${index}`);
    return found;
  }
}

/** Names of blobs say which link they belong to. */
function mapBlobs<Value>(value: Value, link: number, depth = 0): Value {
  if (depth > 5 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((inner: unknown) => mapBlobs(inner, link, depth + 1)) as Value;
  if ('blob' in value && 'mediaType' in value) return { ...value, blob: `link:${link}:${String(value.blob)}` };
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, key === 'info' ? inner : mapBlobs(inner, link, depth + 1)])) as Value;
}
