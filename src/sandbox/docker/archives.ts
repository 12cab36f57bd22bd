/** Tar streams as the engine's archive API gives and takes them. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack, type Header, type Pack } from 'tar-stream';
import { LimitExceeded, SandboxError } from '../errors.js';

type Entry = Readable & { readonly header: Header };

/** Content of the archive's first file, no more than `length` bytes. After `maxBytes` the stream is cut with `LimitExceeded`. */
export function contentOf(tar: Readable, maxBytes = Infinity, length = Infinity): Readable {
  return Readable.from(content(tar, maxBytes, length), { objectMode: false });
}

async function* content(tar: Readable, maxBytes: number, length: number): AsyncGenerator<Uint8Array> {
  for await (const entry of entries(tar)) {
    let left = maxBytes;
    let wanted = length;
    for await (const chunk of entry) {
      const bytes = chunk as Buffer;
      if (bytes.length > left) {
        if (left > 0) yield bytes.subarray(0, left);
        throw new LimitExceeded(`the file is larger than ${maxBytes} bytes`);
      }
      left -= bytes.length;
      yield bytes.subarray(0, wanted);
      wanted -= bytes.length;
      if (wanted <= 0) return;
    }
    return;
  }
}

async function* entries(tar: Readable): AsyncGenerator<Entry> {
  const parser = extract();
  // Its failure destroys the parser, and is met in the loop.
  pipeline(tar, parser).catch(() => undefined);
  try {
    for await (const entry of parser) yield entry as unknown as Entry;
  } finally {
    tar.destroy();
  }
}

/** An archive of one file. A stream's length stands before it in an archive, so one of unknown `size` goes through a file of the host; `close` removes that. */
export async function tarOfFile(name: string, data: Readable | Uint8Array | string, mode: number, size: number | undefined, signal: AbortSignal): Promise<{ tar: Readable; close: () => Promise<void> }> {
  const tar = pack();
  const header = { name, mode, uid: 0, gid: 0, mtime: new Date() };
  if (!(data instanceof Readable)) {
    tar.entry(header, typeof data === 'string' ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    tar.finalize();
    return { tar: readable(tar), close: () => Promise.resolve() };
  }
  if (size !== undefined) {
    sendEntry(tar, { ...header, size }, data);
    return { tar: readable(tar), close: () => Promise.resolve(void data.destroy()) };
  }
  const folder = await mkdtemp(join(tmpdir(), 'rl-sandboxes-'));
  const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const file = join(folder, 'data');
    await pipeline(data, createWriteStream(file, { mode: 0o600 }), { signal });
    sendEntry(tar, { ...header, size: (await stat(file)).size }, createReadStream(file));
    return { tar: readable(tar), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function sendEntry(tar: Pack, header: Parameters<Pack['entry']>[0], data: Readable): void {
  const entry = tar.entry(header, (error) => (error ? tar.destroy(error) : tar.finalize()));
  if (header.size === 0) entry.end(Buffer.alloc(0));
  else pipeline(data, entry as unknown as NodeJS.WritableStream).catch((error: Error) => tar.destroy(error));
}

/** An archive of one empty folder; unpacking it makes those above it too. */
export function tarOfFolder(name: string): Readable {
  const tar = pack();
  tar.entry({ name, type: 'directory', mode: 0o755, uid: 0, gid: 0, mtime: new Date() });
  tar.finalize();
  return readable(tar);
}

const readable = (tar: Pack): Readable => Readable.from(tar, { objectMode: false });

/**
 * Copies entries into another archive under names relative to `/`: files, folders and links that are `wanted`. `pathOf` gives an entry's absolute
 * path. A hard link to a file that was not copied is not copied either, but given back.
 */
export async function copyEntries(tar: Readable, to: Pack, pathOf: (name: string) => string, wanted: (path: string) => boolean, signal: AbortSignal): Promise<string[]> {
  const copied = new Set<string>();
  const orphans: string[] = [];
  for await (const entry of entries(tar)) {
    signal.throwIfAborted();
    const { type, mode, uid, gid, mtime, size } = entry.header;
    const path = pathOf(entry.header.name);
    const kept = wanted(path) && ['file', 'contiguous-file', 'directory', 'symlink', 'link'].includes(type ?? 'file');
    const target = type === 'link' ? pathOf(entry.header.linkname ?? '') : undefined;
    if (kept && target !== undefined && !copied.has(target)) orphans.push(path);
    else if (kept) {
      // Fresh: an extended header that came along would bring back the old name.
      const header = { name: path.slice(1), type, mode, uid, gid, mtime, size, linkname: target?.slice(1) ?? entry.header.linkname ?? undefined };
      await copyEntry(entry, to, header);
      copied.add(path);
    }
    entry.resume();
  }
  return orphans;
}

function copyEntry(entry: Entry, to: Pack, header: Parameters<Pack['entry']>[0]): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new SandboxError('the download was given up'));
    to.once('close', gone);
    const sink = to.entry(header, (error) => {
      to.off('close', gone);
      if (error) reject(error);
      else resolve();
    });
    if (header.type === 'file' || header.type === 'contiguous-file') pipeline(entry as unknown as NodeJS.ReadableStream, sink as unknown as NodeJS.WritableStream).catch(reject);
  });
}
