/** Windows of a run's episodes: filtered, sorted, and no more of them than are on screen. */
import type { EpisodeRecord } from '../store/records.js';
import type { EpisodeRow, Rows, RowsQuery, SortKey } from '../store/statistics.js';
import { parseFilter } from './filter.js';

type Figure = (record: EpisodeRecord) => number | null;

const NUMBERS: { readonly [K in SortKey]?: Figure } = {
  episode: (record) => record.episode,
  seed: (record) => record.seed,
  sample: (record) => record.sample,
  reward: (record) => record.reward,
  steps: (record) => record.steps,
  time: (record) => record.timings.total,
};
const TEXTS: { readonly [K in SortKey]?: (record: EpisodeRecord) => string | undefined } = {
  status: (record) => record.status,
  cause: (record) => record.cause,
};

/**
 * `records` are in finish order, which is also the order of equal rows in either direction. Rows without a value come last in either direction.
 * `advantage` is there where seeds have several samples.
 */
export function queryRows(records: readonly EpisodeRecord[], query: RowsQuery, advantage?: Figure): Rows {
  const { matches, error } = parseFilter(query.filter);
  const found = query.filter.trim() === '' ? records : records.filter(matches);
  const start = clamp(query.start, found.length);
  const end = start + clamp(query.count, found.length - start);
  const rows = windowOf(sortKeys(found, query, advantage), start, end).map((index): EpisodeRow => (advantage ? { ...found[index]!, advantage: advantage(found[index]!) } : found[index]!));
  return { total: found.length, start, rows, ...(error === undefined ? {} : { filterError: error }) };
}

const clamp = (value: number, high: number): number => Math.min(Math.max(0, Math.floor(value) || 0), high);

/** One number for each record, which sorts ascending as asked: infinity where there is no value. */
function sortKeys(records: readonly EpisodeRecord[], { sort, descending }: RowsQuery, advantage: Figure | undefined): Float64Array {
  const turn = descending ? -1 : 1;
  const keys = new Float64Array(records.length);
  const text = TEXTS[sort];
  const ranks = text && rank(records.map(text));
  const number = sort === 'advantage' ? advantage : NUMBERS[sort];
  records.forEach((record, index) => {
    const key = ranks ? ranks.get(text(record)) : number ? number(record) : index;
    keys[index] = key === null || key === undefined ? Infinity : turn * key;
  });
  return keys;
}

/** Places of texts among each other. */
function rank(texts: readonly (string | undefined)[]): Map<string | undefined, number> {
  const distinct = [...new Set(texts)].filter((text) => text !== undefined).sort();
  return new Map(distinct.map((text, index) => [text, index]));
}

/**
 * Indices of the keys at places `start` to `end` of their order. Only the keys are all sorted, as plain numbers; of the records no more than
 * lie in the window's range, which takes a tenth of the time at 100,000.
 */
function windowOf(keys: Float64Array, start: number, end: number): number[] {
  if (start === end) return [];
  const sorted = keys.slice().sort();
  const [low, high] = [sorted[start]!, sorted[end - 1]!];
  const near: number[] = [];
  keys.forEach((key, index) => key >= low && key <= high && near.push(index));
  // Two infinities differ by NaN, which is as false as 0.
  near.sort((a, b) => keys[a]! - keys[b]! || a - b);
  const skip = start - sorted.indexOf(low);
  return near.slice(skip, skip + end - start);
}
