/** Runs on disk: `run.json`, and what an episode left behind beside it. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson, writeJson } from './json.js';
import type { Layout } from './layout.js';
import type { RunRecord } from './records.js';

export class RunStore {
  constructor(readonly layout: Layout) {}

  /** Makes the folder of a run and writes its record. */
  async create(record: Omit<RunRecord, 'id' | 'number'>): Promise<RunRecord> {
    await this.layout.prepare();
    const stamp = new Date(record.createdAt).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
    const id = `${record.template}-${stamp}-${randomBytes(2).toString('hex')}`;
    return this.withNumber(async (number) => {
      const run = { ...record, id, number };
      await mkdir(this.layout.run(id), { recursive: true });
      await this.write(run);
      return run;
    });
  }

  /**
   * Numbers are given to one process at a time: a folder that only one can make stands for the number until the run's record does. One that a
   * crash left behind costs its number and nothing else.
   */
  private async withNumber(create: (number: number) => Promise<RunRecord>): Promise<RunRecord> {
    for (let number = 0; ; ) {
      number = Math.max(number, await this.lastNumber()) + 1;
      const claim = join(this.layout.runs, `.number-${number}`);
      const mine = await mkdir(claim).then(() => true, (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false;
        throw error;
      });
      if (!mine) continue;
      try {
        // Another process may have had the number and let go of it since the list was read.
        if ((await this.lastNumber()) < number) return await create(number);
      } finally {
        await rmdir(claim);
      }
    }
  }

  private async lastNumber(): Promise<number> {
    return (await this.list()).reduce((last, run) => Math.max(last, run.number), 0);
  }

  write(run: RunRecord): Promise<void> {
    return writeJson(this.layout.runFile(run.id), run);
  }

  /** Rejects with one sentence if there is no such run. */
  async read(id: string): Promise<RunRecord> {
    const run = await readJson<RunRecord>(this.layout.runFile(id));
    if (!run) throw new Error(`there is no run ${id} in ${this.layout.base}`);
    return run;
  }

  /** Newest first. Folders that hold no readable record are passed over. */
  async list(): Promise<RunRecord[]> {
    const names = await readdir(this.layout.runs).catch(() => [] as string[]);
    const runs = await Promise.all(names.filter((name) => /^[A-Za-z0-9]/.test(name)).map((name) => readJson<RunRecord>(this.layout.runFile(name)).catch(() => undefined)));
    return runs.filter((run): run is RunRecord => run !== undefined && typeof run.number === 'number').sort((a, b) => b.number - a.number || b.createdAt - a.createdAt);
  }

  /** A run by id, by the start of an id that only one run has, by number (`14`, `#14`), or `latest`. */
  async find(name: string): Promise<RunRecord> {
    const runs = await this.list();
    if (name === 'latest' && runs[0]) return runs[0];
    const exact = runs.find((run) => run.id === name || `#${run.number}` === name || String(run.number) === name);
    if (exact) return exact;
    const matches = name === '' ? [] : runs.filter((run) => run.id.startsWith(name));
    if (matches.length === 1) return matches[0]!;
    throw new Error(matches.length ? `"${name}" could be any of ${matches.length} runs` : `there is no run "${name}" in ${this.layout.base}; \`rl-sandboxes list\` shows what is there`);
  }

  async remove(id: string): Promise<void> {
    await rm(this.layout.run(id), { recursive: true, force: true });
  }
}
