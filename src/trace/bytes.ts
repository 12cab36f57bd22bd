/** Where a trace's bytes lie: read by ranges, so that a file of any size costs what is looked at. */
import { open, type FileHandle } from 'node:fs/promises';

/** A half-open range of bytes. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Bytes {
  readonly size: number;
  /** What lies in the range; shorter where the file has become so. It may be read into the memory that is given. */
  read(start: number, end: number, into?: Buffer): Promise<Buffer>;
  close(): Promise<void>;
}

export class FileBytes implements Bytes {
  /** Another file has the name now, or none. */
  gone = false;

  private constructor(
    private readonly handle: FileHandle,
    public size: number,
    public modifiedAt: number,
  ) {}

  static async open(file: string): Promise<FileBytes> {
    const handle = await open(file, 'r');
    try {
      const found = await handle.stat();
      if (!found.isFile()) throw new Error(`${file} is no ordinary file`);
      return new FileBytes(handle, found.size, found.mtimeMs);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async read(start: number, end: number, into?: Buffer): Promise<Buffer> {
    const buffer = into?.subarray(0, end - start) ?? Buffer.allocUnsafe(Math.max(0, end - start));
    let filled = 0;
    while (filled < buffer.length) {
      const { bytesRead } = await this.handle.read(buffer, filled, buffer.length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  }

  /** Looks how long the file is now. */
  async measure(): Promise<void> {
    const found = await this.handle.stat();
    this.size = found.size;
    this.modifiedAt = found.mtimeMs;
    this.gone = found.nlink === 0;
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

export class MemoryBytes implements Bytes {
  constructor(private readonly data: Buffer) {}

  get size(): number {
    return this.data.length;
  }

  read(start: number, end: number): Promise<Buffer> {
    return Promise.resolve(this.data.subarray(start, end));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const WINDOW = 1 << 20;

export interface WindowOptions {
  /** So many bytes at the end of a window are those at the beginning of the next as well. */
  readonly overlap?: number;
  /** Whoever asks is done with a window before asking for the next: all are read into the same memory, which takes half the time. */
  readonly passing?: boolean;
  readonly signal?: AbortSignal;
}

/** The range in windows, each with the offset of its first byte. */
export async function* windows(bytes: Bytes, { start, end }: Span, { overlap = 0, passing, signal }: WindowOptions = {}): AsyncGenerator<{ readonly at: number; readonly data: Buffer }> {
  const into = passing ? Buffer.allocUnsafe(Math.max(0, Math.min(WINDOW, end - start))) : undefined;
  for (let at = start; at < end; ) {
    signal?.throwIfAborted();
    const data = await bytes.read(at, Math.min(end, at + WINDOW), into);
    if (data.length === 0) return;
    yield { at, data };
    if (at + data.length >= end) return;
    at += Math.max(1, data.length - overlap);
  }
}
