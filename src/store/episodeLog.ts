/** Append-only `episodes.jsonl`: written with one flush for all that finished meanwhile, read in windows of the file. */
import { open, stat, truncate, type FileHandle } from 'node:fs/promises';
import type { EpisodeRecord } from './records.js';

export class EpisodeLog {
  private pending: { line: string; done: () => void; failed: (error: unknown) => void }[] = [];
  private flushing: Promise<void> | undefined;

  private constructor(
    private readonly file: string,
    private readonly handle: FileHandle,
    /** Bytes of whole records. */
    private size: number,
  ) {}

  /** Opens for appending. A torn last line, left by a crash, is cut off first: its episode counts as not finished. */
  static async open(file: string): Promise<EpisodeLog> {
    await cutTornLine(file);
    const handle = await open(file, 'a');
    return new EpisodeLog(file, handle, (await handle.stat()).size);
  }

  /** Resolves when the record is on disk. Rejects with the system's error, such as ENOSPC, and where the file is gone. */
  append(record: EpisodeRecord): Promise<void> {
    return new Promise((done, failed) => {
      this.pending.push({ line: JSON.stringify(record) + '\n', done, failed });
      this.flushing ??= this.flush();
    });
  }

  private async flush(): Promise<void> {
    while (this.pending.length > 0) {
      const batch = this.pending;
      this.pending = [];
      const lines = Buffer.from(batch.map((entry) => entry.line).join(''));
      try {
        await this.handle.appendFile(lines);
        await this.handle.datasync();
        if ((await this.handle.stat()).nlink === 0) throw new Error(`${this.file} has been removed while episodes were written to it`);
        this.size += lines.length;
        for (const entry of batch) entry.done();
      } catch (error) {
        // A disk that is full may have taken half a line, which would spoil the next one.
        await this.handle.truncate(this.size).catch(() => undefined);
        for (const entry of batch) entry.failed(error);
      }
    }
    this.flushing = undefined;
  }

  async close(): Promise<void> {
    await this.flushing;
    await this.handle.close();
  }
}

async function cutTornLine(file: string): Promise<void> {
  const size = await stat(file).then((found) => found.size, () => 0);
  if (size === 0) return;
  const reader = new EpisodeReader(file);
  await reader.read(() => undefined);
  if (reader.offset < size) await truncate(file, reader.offset);
}

const WINDOW = 1 << 20;

/** Follows the log from where it last stopped. Lines that are no record are counted, not thrown. */
export class EpisodeReader {
  /** Bytes up to the end of the last whole line. */
  offset = 0;
  /** Lines that could not be read. */
  damaged = 0;

  constructor(private readonly file: string) {}

  /** Hands over every whole line that came since the last call. A file that is not there has none. */
  async read(each: (record: EpisodeRecord) => void): Promise<void> {
    let handle: FileHandle;
    try {
      handle = await open(this.file, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    try {
      const buffer = Buffer.allocUnsafe(WINDOW);
      let rest = Buffer.alloc(0);
      let position = this.offset;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, WINDOW, position);
        if (bytesRead === 0) return;
        position += bytesRead;
        const data = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const end = data.lastIndexOf(10) + 1;
        for (const line of data.toString('utf8', 0, end).split('\n')) if (line) this.parse(line, each);
        this.offset += end;
        rest = Buffer.from(data.subarray(end));
      }
    } finally {
      await handle.close();
    }
  }

  private parse(line: string, each: (record: EpisodeRecord) => void): void {
    let record: EpisodeRecord;
    try {
      record = JSON.parse(line) as EpisodeRecord;
    } catch {
      this.damaged += 1;
      return;
    }
    if (Number.isSafeInteger(record?.episode)) each(record);
    else this.damaged += 1;
  }
}
