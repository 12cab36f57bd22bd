/**
 * Writes a native trace: `trace.jsonl` in an episode's folder, one event a line, and `blobs/` beside it. Lines are gathered and appended at most
 * every `FLUSH_MS`, whole lines only and after the blobs that they name: whoever reads it while it is written, or after a crash, finds a good
 * trace that ends with at most one torn line. A short episode costs one file, opened once.
 */
import { createHash, randomBytes } from 'node:crypto';
import { appendFile, closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Action, Content, NoteEvent, StoredBlob, TraceEvent } from './events.js';

export const TRACE_FILE = 'trace.jsonl';
export const BLOBS_FOLDER = 'blobs';

/** A text or a value that takes more than this many bytes is a blob. */
export const INLINE_BYTES = 8 * 1024;
/** How much of a text blob its line quotes, in characters. */
const HEAD_CHARACTERS = 200;
/** How late a line may be read by who watches. */
const FLUSH_MS = 250;
/** Who records more than this without a flush has to wait for one. */
const PENDING_BYTES = 1 << 20;
/** So much is written at once: to ask a thread for so little takes longer than to do it, and what records must not slow down what is recorded. */
export const SHORT_BYTES = 64 * 1024;
/** Lines and blobs of one trace. What comes after is left out, but for notes, the reward and the end; a note `full` says so. */
const MAX_BYTES = 2 * 2 ** 30;

export interface TraceWriterOptions {
  /** The episode's folder; made when there is something to write. Nothing is kept if absent. */
  readonly folder?: string;
  /** Takes secrets out of a text. */
  readonly redact?: (text: string) => string;
  readonly maxBytes?: number;
}

type StepAction = { readonly step: number; readonly at: number; readonly action: Action };

export class TraceWriter {
  private readonly maxBytes: number;
  private lines: string[] = [];
  private blobs: { readonly name: string; readonly data: Uint8Array }[] = [];
  private readonly known = new Set<string>();
  private file: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;
  private failure: unknown;
  /** A step that has begun and that no line tells of yet. */
  private begun: StepAction | undefined;
  private pending = 0;
  private total = 0;
  private full = false;

  constructor(private readonly options: TraceWriterOptions) {
    this.maxBytes = options.maxBytes ?? MAX_BYTES;
  }

  /** Records an event; nothing is awaited. What is big has been given to `content` before. */
  write(event: TraceEvent): void {
    const always = event.type === 'note' || event.type === 'reward' || event.type === 'end' || event.type === 'start';
    if (this.full && !always) return;
    if (event.type === 'step' && this.begun?.step === event.step) this.begun = undefined;
    const line = `${this.clean(serialise(event))}\n`;
    const bytes = Buffer.byteLength(line);
    if (!always && this.isFull(bytes)) return;
    this.lines.push(line);
    this.count(bytes);
    this.schedule();
  }

  /** A step begins. A line tells of it only if the step is not over by the next flush. */
  begin(step: StepAction): void {
    this.begun = step;
    this.schedule();
  }

  note(level: NoteEvent['level'], what: string, message: string, step?: number): void {
    this.write({ type: 'note', at: Date.now(), level, what, message, ...(step === undefined ? {} : { step }) });
  }

  /** The value as an event holds it: itself, or a blob if it is big. */
  content(value: Content): Content {
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
    if (typeof value === 'string') {
      // No character takes more than three bytes for each of its UTF-16 units.
      if (value.length * 3 <= INLINE_BYTES || Buffer.byteLength(value) <= INLINE_BYTES) return value;
      const text = this.clean(value.toWellFormed());
      const head = text.slice(0, HEAD_CHARACTERS).toWellFormed();
      const blob = this.blob(Buffer.from(text), 'text/plain');
      return this.full ? head : { ...blob, head };
    }
    if (isBlob(value)) return value;
    const text = serialise(value);
    return text.length <= INLINE_BYTES ? value : this.blob(Buffer.from(this.clean(text)), 'application/json');
  }

  /** Keeps bytes once, under their digest. In a full trace they are not kept; nor is the event that names them. */
  blob(data: Uint8Array, mediaType: string): StoredBlob {
    const name = createHash('sha256').update(data).digest('hex');
    if (!this.full && !this.known.has(name) && !this.isFull(data.length)) {
      this.known.add(name);
      this.blobs.push({ name, data });
      this.count(data.length);
    }
    return { $blob: true, blob: name, mediaType, bytes: data.length };
  }

  /** Resolves when little is waiting to be written. Rejects with the system's error, such as ENOSPC. */
  async drained(): Promise<void> {
    if (this.pending > PENDING_BYTES) await this.flush();
    this.check();
  }

  /**
   * Writes what is left. Rejects with the system's error. The disk is not waited for, as with the other files of an episode: what was written outlives
   * a kill of this process, and of a loss of power the log of episodes is what outlives it.
   */
  async finish(): Promise<void> {
    this.begun = undefined;
    try {
      await this.flush();
      this.check();
    } finally {
      await this.close();
    }
  }

  /** Gives up: what has been written stays as it is. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.flushing?.catch(() => undefined);
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }

  private count(bytes: number): void {
    this.pending += bytes;
    this.total += bytes;
  }

  private isFull(more: number): boolean {
    if (this.total + more <= this.maxBytes) return false;
    this.full = true;
    this.note('warning', 'full', `the trace has reached its limit of ${this.maxBytes} bytes: what follows is not recorded`);
    return true;
  }

  private clean(text: string): string {
    return this.options.redact?.(text) ?? text;
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      // A failure is told by whoever waits next.
      void this.flush().catch(() => undefined);
    }, FLUSH_MS);
  }

  private check(): void {
    if (this.failure !== undefined) throw this.failure;
  }

  private flush(): Promise<void> {
    const next = (this.flushing ?? Promise.resolve()).then(() => this.append());
    this.flushing = next.catch((error: unknown) => void (this.failure ??= error));
    return next;
  }

  private async append(): Promise<void> {
    this.check();
    if (this.begun) {
      const { begun } = this;
      this.begun = undefined;
      this.write({ type: 'begin', ...begun });
    }
    const { blobs, lines } = this;
    if (lines.length === 0) return;
    [this.blobs, this.lines, this.pending] = [[], [], 0];
    const { folder } = this.options;
    if (folder === undefined) return;
    this.file ??= create(folder);
    if (blobs.length) await mkdir(join(folder, BLOBS_FOLDER), { recursive: true });
    for (const { name, data } of blobs) await keep(join(folder, BLOBS_FOLDER, name), data);
    const data = Buffer.from(lines.join(''));
    if (data.length <= SHORT_BYTES) writeFileSync(this.file, data);
    else await promisify(appendFile)(this.file, data);
  }
}

/** That of an earlier attempt makes way; a file of its own, so that who follows the old one sees that it is gone. */
function create(folder: string): number {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, TRACE_FILE);
  try {
    return openSync(file, 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    rmSync(file);
    return openSync(file, 'wx');
  }
}

/** A blob is whole or not there: its name promises what is in it. */
async function keep(file: string, data: Uint8Array): Promise<void> {
  const temporary = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, data, { flag: 'wx' });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

export const isBlob = (value: unknown): value is StoredBlob => typeof value === 'object' && value !== null && (value as StoredBlob).$blob === true;

/** JSON whose text is valid UTF-8 and Unicode: half a surrogate pair, which JSON could write but few can read, is U+FFFD. */
function serialise(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud')) return text;
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'string' ? item.toWellFormed() : item));
}

