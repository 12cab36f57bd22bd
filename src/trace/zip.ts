/**
 * Reads ZIP files (APPNOTE 6.3.10): stored, deflate and Zstandard, ZIP64. Names of entries are only compared, never used as paths; sizes are
 * bounded by what the directory says and by what is shown at all.
 */
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInflateRaw } from 'node:zlib';
import { Readable } from 'node:stream';
import { FileBytes, MemoryBytes, windows, type Bytes } from './bytes.js';

export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly size: number;
  readonly packed: number;
  /** Where the entry's local header begins. */
  readonly offset: number;
}

const [END, END64, LOCATOR64, CENTRAL, LOCAL] = [0x06054b50, 0x06064b50, 0x07064b50, 0x02014b50, 0x04034b50];
const MOST_ENTRIES = 1_000_000;
const MOST_DIRECTORY = 512 << 20;
/** Larger entries are not shown. */
const MOST = 2 ** 31;
/** Larger ones wait in a temporary file. */
const IN_MEMORY = 32 << 20;

export async function readDirectory(bytes: Bytes): Promise<Map<string, ZipEntry>> {
  const tailStart = Math.max(0, bytes.size - 65_557);
  const tail = await bytes.read(tailStart, bytes.size);
  let at = tail.length - 22;
  while (at >= 0 && tail.readUInt32LE(at) !== END) at -= 1;
  if (at < 0) throw new Error('the ZIP file has no directory: it was cut off');
  let count = tail.readUInt16LE(at + 10);
  let size = tail.readUInt32LE(at + 12);
  let offset = tail.readUInt32LE(at + 16);
  if ((count === 0xffff || size === 0xffffffff || offset === 0xffffffff) && at >= 20 && tail.readUInt32LE(at - 20) === LOCATOR64) {
    const end64 = await bytes.read(Number(tail.readBigUInt64LE(at - 12)), Number(tail.readBigUInt64LE(at - 12)) + 56);
    if (end64.length < 56 || end64.readUInt32LE(0) !== END64) throw new Error("the ZIP file's directory is damaged");
    [count, size, offset] = [Number(end64.readBigUInt64LE(32)), Number(end64.readBigUInt64LE(40)), Number(end64.readBigUInt64LE(48))];
  }
  if (count > MOST_ENTRIES || size > MOST_DIRECTORY || offset + size > bytes.size) throw new Error("the ZIP file's directory is damaged");
  const data = await bytes.read(offset, offset + size);
  const entries = new Map<string, ZipEntry>();
  for (let from = 0; from + 46 <= data.length && entries.size < count && data.readUInt32LE(from) === CENTRAL; ) {
    const [nameLength, extraLength, commentLength] = [data.readUInt16LE(from + 28), data.readUInt16LE(from + 30), data.readUInt16LE(from + 32)];
    const name = data.toString('utf8', from + 46, from + 46 + nameLength);
    const extra = data.subarray(from + 46 + nameLength, from + 46 + nameLength + extraLength);
    entries.set(name, { name, method: data.readUInt16LE(from + 10), ...sizesOf(data, from, extra) });
    from += 46 + nameLength + extraLength + commentLength;
  }
  return entries;
}

function sizesOf(data: Buffer, from: number, extra: Buffer): { size: number; packed: number; offset: number } {
  const sizes = { size: data.readUInt32LE(from + 24), packed: data.readUInt32LE(from + 20), offset: data.readUInt32LE(from + 42) };
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let field = at + 4;
    for (const key of ['size', 'packed', 'offset'] as const)
      if (sizes[key] === 0xffffffff && field + 8 <= extra.length) {
        sizes[key] = Number(extra.readBigUInt64LE(field));
        field += 8;
      }
  }
  return sizes;
}

/** The content of an entry, to be closed by the caller. Rejects where it is not what the directory says, or too large. */
export async function openEntry(bytes: Bytes, entry: ZipEntry, signal?: AbortSignal): Promise<Bytes> {
  const shown = entry.name.slice(0, 80);
  if (entry.size > MOST) throw new Error(`"${shown}" is ${entry.size} bytes unpacked, more than the ${MOST} that are shown`);
  const header = await bytes.read(entry.offset, entry.offset + 30);
  if (header.length < 30 || header.readUInt32LE(0) !== LOCAL) throw new Error(`"${shown}" is damaged`);
  const start = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  const range = { start, end: start + entry.packed };
  if (range.end > bytes.size) throw new Error(`"${shown}" is cut off`);
  const sink = new Sink(entry, signal);
  try {
    for await (const piece of unpacked(bytes, range, entry, signal)) await sink.write(piece);
    return await sink.end();
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}

async function* unpacked(bytes: Bytes, range: { start: number; end: number }, { method, name, size }: ZipEntry, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const packed = async function* (): AsyncGenerator<Buffer> {
    for await (const { data } of windows(bytes, range, { signal })) yield data;
  };
  if (method === 0) yield* packed();
  else if (method === 8) {
    const inflate = createInflateRaw();
    const source = Readable.from(packed());
    source.on('error', (error) => inflate.destroy(error));
    yield* source.pipe(inflate) as AsyncIterable<Buffer>;
  } else if (method === 93) {
    const { Decompress } = await import('fzstd');
    let pieces: Uint8Array[] = [];
    let produced = 0;
    // One push may unpack to thousands of times its size: what is too much is refused while it is unpacked.
    const stream = new Decompress((piece) => {
      produced += piece.length;
      if (produced > size) throw tooMuch(name, size);
      pieces.push(piece);
    });
    for await (const data of packed()) {
      for (let from = 0; from < data.length; from += 16 << 10) {
        stream.push(data.subarray(from, from + (16 << 10)));
        yield* pieces;
        pieces = [];
      }
    }
    stream.push(new Uint8Array(0), true);
    yield* pieces;
  } else throw new Error(`"${name.slice(0, 80)}" is packed by a method that is not known: ${method}`);
}

const tooMuch = (name: string, size: number): Error => new Error(`"${name.slice(0, 80)}" unpacks to more than the ${size} bytes that the directory says`);

/** Memory, or a temporary file for what is large. */
class Sink {
  private readonly pieces: Uint8Array[] = [];
  private written = 0;
  private folder: string | undefined;
  private handle: FileHandle | undefined;

  constructor(
    private readonly entry: ZipEntry,
    private readonly signal: AbortSignal | undefined,
  ) {}

  async write(piece: Uint8Array): Promise<void> {
    this.signal?.throwIfAborted();
    this.written += piece.length;
    if (this.written > this.entry.size) throw tooMuch(this.entry.name, this.entry.size);
    if (this.entry.size > IN_MEMORY && !this.handle) {
      this.folder = await mkdtemp(join(tmpdir(), 'rl-trace-'));
      this.handle = await open(join(this.folder, 'entry'), 'wx', 0o600);
    }
    if (this.handle) await this.handle.writeFile(piece);
    else this.pieces.push(piece);
  }

  async end(): Promise<Bytes> {
    if (this.written !== this.entry.size) throw new Error(`"${this.entry.name.slice(0, 80)}" unpacks to ${this.written} bytes, and the directory says ${this.entry.size}`);
    if (!this.handle) return new MemoryBytes(Buffer.concat(this.pieces));
    await this.handle.close();
    const file = await FileBytes.open(join(this.folder!, 'entry'));
    const { folder } = this;
    return { size: file.size, read: (start, end) => file.read(start, end), close: () => file.close().finally(() => rm(folder!, { recursive: true, force: true })) };
  }

  async abandon(): Promise<void> {
    await this.handle?.close().catch(() => undefined);
    if (this.folder) await rm(this.folder, { recursive: true, force: true });
  }
}
