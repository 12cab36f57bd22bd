/** Opens a trace of any known format. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FileBytes } from './bytes.js';
import { TraceUnreadable, type OpenOptions } from './importers/format.js';
import { FORMATS } from './importers/index.js';
import { probeOf } from './importers/probe.js';
import type { TraceReader } from './model.js';
import { TRACE_FILE } from './writer.js';

export { TraceUnreadable } from './importers/format.js';

/** The file of a trace: what is given, or what an episode has in its folder. */
export async function traceFile(path: string): Promise<string> {
  const ofEpisode = join(path, TRACE_FILE);
  return (await stat(ofEpisode).then((found) => found.isFile(), () => false)) ? ofEpisode : path;
}

/**
 * `path` is a trace, an episode's folder, or another that holds traces in a way that a format knows. `member` picks one, from 0, where a file holds several. Rejects
 * with a `TraceUnreadable` if no format recognises it, with the system's error if it cannot be opened.
 */
export async function openTrace(path: string, options: OpenOptions = {}): Promise<TraceReader> {
  options.signal?.throwIfAborted();
  const file = await traceFile(path);
  const bytes = (await stat(file)).isDirectory() ? undefined : await FileBytes.open(file);
  try {
    const probe = await probeOf(file, bytes, options.signal);
    for (const format of FORMATS) if (await format.recognises(probe)) return await format.open(probe, bytes, options);
    const known = FORMATS.map(({ title }) => title).join(', ');
    throw new TraceUnreadable(`${file} is no trace of a known format (${known})${bytes?.size === 0 ? ': it is empty' : ''}`);
  } catch (error) {
    await bytes?.close().catch(() => undefined);
    throw error;
  }
}
