/** Traces that are open for looking: a few at once, each opened on first use and closed when others are wanted more. */
import { stat } from 'node:fs/promises';
import type { TraceHead, TraceOpened, TraceRef } from '../protocol/traceView.js';
import type { TraceReader } from '../trace/model.js';

/** A reader holds an index of its file; so many are kept at once. */
const READERS_KEPT = 8;

interface Entry {
  readonly reader: Promise<TraceReader>;
  /** Requests that use it now: it is not closed under them. */
  users: number;
}

export class Traces {
  /** In the order of their last use. */
  private readonly open = new Map<string, Entry>();
  private closed = false;

  /** Gives the reader of a trace to `work`, opening it if it is not open. Rejects with what `openTrace` or `work` reject with. */
  async use<T>(ref: TraceRef, work: (reader: TraceReader) => Promise<T>): Promise<T> {
    if (this.closed) throw new Error('the traces were closed');
    const key = keyOf(ref);
    const entry = this.open.get(key) ?? { reader: openReader(ref), users: 0 };
    this.open.delete(key);
    this.open.set(key, entry);
    entry.users++;
    try {
      return await work(await entry.reader);
    } catch (error) {
      // One that could not be opened is tried again the next time.
      if (await entry.reader.then(() => false, () => true)) this.forget(key, entry);
      throw error;
    } finally {
      entry.users--;
      await this.trim();
    }
  }

  async opened(ref: TraceRef): Promise<TraceOpened> {
    // One that is open may be of a file that has become another since.
    await this.refresh(ref, false).catch(() => undefined);
    return this.use(ref, async (reader) => {
      const [head, start] = await Promise.all([reader.head(), reader.start()]);
      return { head, start };
    });
  }

  /** Takes in what was appended. The head if anything was, or in any case. A trace that cannot be read any more is closed. */
  async refresh(ref: TraceRef, always: boolean): Promise<TraceHead | null> {
    try {
      return await this.use(ref, async (reader) => ((await reader.refresh()) || always ? reader.head() : null));
    } catch (error) {
      await this.close(ref);
      throw error;
    }
  }

  /** Closes a trace that nobody looks at any more. */
  async close(ref: TraceRef): Promise<void> {
    const key = keyOf(ref);
    const entry = this.open.get(key);
    if (!entry || entry.users > 0) return;
    this.open.delete(key);
    await closeReader(entry);
  }

  /** Closes what is not in use. */
  async closeIdle(): Promise<void> {
    await this.trim(0);
  }

  async closeAll(): Promise<void> {
    this.closed = true;
    const entries = [...this.open.values()];
    this.open.clear();
    await Promise.all(entries.map(closeReader));
  }

  private forget(key: string, entry: Entry): void {
    if (this.open.get(key) === entry) this.open.delete(key);
  }

  private async trim(kept = READERS_KEPT): Promise<void> {
    for (const [key, entry] of this.open) {
      if (this.open.size <= kept) return;
      if (entry.users > 0) continue;
      this.open.delete(key);
      await closeReader(entry);
    }
  }
}

const keyOf = ({ file, member }: TraceRef): string => `${member ?? ''}\n${file}`;

/** The formats are loaded with the first trace. */
async function openReader({ file, member }: TraceRef): Promise<TraceReader> {
  if (!(await stat(file)).isFile()) throw new Error(`${file} is not a file`);
  const { openTrace } = await import('../trace/open.js');
  return openTrace(file, { member });
}

async function closeReader({ reader }: Entry): Promise<void> {
  await reader.then((opened) => opened.close()).catch(() => undefined);
}
