/** Episodes of a run, all or a selection, in any of the formats, to a file or a folder of a person's choice. */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Layout } from '../store/layout.js';
import type { RunRecord } from '../store/records.js';
import { chosenEpisodes, writeLines, type Selection } from './export.js';
import type { TraceExport } from './exportTraces.js';

export type { Selection } from './export.js';

/** Lines of one file. */
export type FileFormat = 'jsonl' | 'csv' | 'chat';
/** A folder of files. */
export type FolderFormat = 'atif' | 'native';
export type ExportFormat = FileFormat | FolderFormat;

export const isFolderFormat = (format: ExportFormat): format is FolderFormat => format === 'atif' || format === 'native';

/** `path` becomes a file, or a folder. What was begun and did not come to its end is removed if it is a file. */
export async function exportSelection(layout: Layout, run: RunRecord, format: ExportFormat, selection: Selection, path: string, signal?: AbortSignal): Promise<TraceExport> {
  if (isFolderFormat(format)) {
    const { exportAtif, exportNative } = await import('./exportTraces.js');
    return (format === 'atif' ? exportAtif : exportNative)(layout, run, await chosenEpisodes(layout, run.id, selection), path, signal);
  }
  const output = createWriteStream(path);
  const written = finished(output);
  written.catch(() => undefined);
  try {
    const result = await Promise.race([exportLines(layout, run, format, selection, output, signal), written.then((): TraceExport => ({ episodes: 0, left: [] }))]);
    output.end();
    await written;
    return result;
  } catch (error) {
    output.destroy();
    await written.catch(() => undefined);
    // Whatever could not be opened was not made here.
    if (output.bytesWritten > 0 || signal?.aborted) await rm(path, { force: true });
    throw error;
  }
}

/** The same to a stream, such as standard output. */
export async function exportLines(layout: Layout, run: RunRecord, format: FileFormat, selection: Selection, output: Writable, signal?: AbortSignal): Promise<TraceExport> {
  const records = await chosenEpisodes(layout, run.id, selection);
  if (format !== 'chat') return { episodes: await writeLines(records, format, output, signal), left: [] };
  const { exportChat } = await import('./exportTraces.js');
  return exportChat(layout, run, records, output, signal);
}
