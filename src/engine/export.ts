/** A run's finished episodes: which of them, and as JSONL or CSV, streamed. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { parseFilter } from '../rollout/filter.js';
import { EpisodeReader } from '../store/episodeLog.js';
import type { Layout } from '../store/layout.js';
import type { EpisodeRecord } from '../store/records.js';

/** Which finished episodes; all of them if nothing is said. */
export interface Selection {
  /** A filter of the episode table. */
  readonly where?: string;
  readonly episodes?: readonly number[];
}

type Cell = string | number | null | undefined;

const COLUMNS: readonly [string, (record: EpisodeRecord) => Cell][] = [
  ['episode', (record) => record.episode],
  ['seed', (record) => record.seed],
  ['sample', (record) => record.sample],
  ['status', (record) => record.status],
  ['reward', (record) => record.reward],
  ['steps', (record) => record.steps],
  ['attempts', (record) => record.attempts],
  ['exit_code', (record) => record.exitCode],
  ['restore_ms', (record) => record.timings.restore],
  ['act_ms', (record) => record.timings.act],
  ['score_ms', (record) => record.timings.score],
  ['terminate_ms', (record) => record.timings.terminate],
  ['total_ms', (record) => record.timings.total],
  ['cause', (record) => record.cause],
  ['components', (record) => JSON.stringify(Object.fromEntries(record.components.map(({ name, value }) => [name, value])))],
];

/** A run's finished episodes that were chosen. Throws one sentence about a filter that is none. */
export async function chosenEpisodes(layout: Layout, id: string, { where = '', episodes }: Selection = {}): Promise<EpisodeRecord[]> {
  const { matches, error } = parseFilter(where);
  if (error) throw new Error(error);
  const chosen = episodes && new Set(episodes);
  const records: EpisodeRecord[] = [];
  await new EpisodeReader(layout.episodesFile(id)).read((record) => matches(record) && (chosen?.has(record.episode) ?? true) && records.push(record));
  return records;
}

/** Writes one line for each episode, a header first in CSV; returns how many. A missing reward is an empty cell, or `null`. */
export async function writeLines(records: readonly EpisodeRecord[], format: 'jsonl' | 'csv', output: Writable, signal?: AbortSignal): Promise<number> {
  const lines: string[] = format === 'csv' ? [COLUMNS.map(([name]) => name).join(',')] : [];
  for (const record of records) {
    lines.push(format === 'csv' ? COLUMNS.map(([, cell]) => csvCell(cell(record))).join(',') : JSON.stringify(record));
    if (lines.length < 500) continue;
    signal?.throwIfAborted();
    await write(output, lines, signal);
  }
  await write(output, lines, signal);
  return records.length;
}

async function write(output: Writable, lines: string[], signal?: AbortSignal): Promise<void> {
  if (lines.length && !output.write(lines.join('\n') + '\n')) await once(output, 'drain', { signal });
  lines.length = 0;
}

/** RFC 4180; a text that a spreadsheet would take for a formula gets a quote in front, since it may come from a sandbox. */
function csvCell(value: Cell): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = value.replace(/^(?=[=+\-@\t\r])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
