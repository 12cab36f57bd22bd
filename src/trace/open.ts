/** Opens a trace of any known format. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { FileBytes } from './bytes.js';
import { FORMATS } from './importers/index.js';
import type { OpenOptions, Probe } from './importers/format.js';
import type { TraceReader } from './model.js';

const HEAD = 64 << 10;

/** No known format, or nothing in it that could be read. */
export class TraceUnreadable extends Error {
  override readonly name = 'TraceUnreadable';
}

/**
 * `file` is a trace, or a folder that holds one in a way that a format knows. `member` picks one, from 0, where a file holds several. Rejects
 * with a `TraceUnreadable` if no format recognises it, with the system's error if it cannot be opened.
 */
export async function openTrace(file: string, options: OpenOptions = {}): Promise<TraceReader> {
  options.signal?.throwIfAborted();
  const folder = (await stat(file)).isDirectory();
  const bytes = folder ? undefined : await FileBytes.open(file);
  try {
    const probe: Probe = { file, name: basename(file), folder, head: (await bytes?.read(0, Math.min(bytes.size, HEAD))) ?? Buffer.alloc(0) };
    for (const format of FORMATS) if (await format.recognises(probe)) return await format.open(probe, bytes, options);
    const known = FORMATS.map(({ title }) => title).join(', ');
    throw new TraceUnreadable(`${file} is no trace of a known format (${known})${bytes?.size === 0 ? ': it is empty' : ''}`);
  } catch (error) {
    await bytes?.close().catch(() => undefined);
    throw error;
  }
}
