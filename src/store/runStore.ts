/** Runs on disk: `run.json`, and what an episode left behind beside it. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { readJson, writeJson } from './json.js';
import type { Layout } from './layout.js';
import type { RunRecord } from './records.js';

export class RunStore {
  constructor(readonly layout: Layout) {}

  /** Makes the folder of a run and writes its record. */
  async create(record: Omit<RunRecord, 'id' | 'number'>): Promise<RunRecord> {
    await this.layout.prepare();
    const number = 1 + Math.max(0, ...(await this.list()).map((run) => run.number));
    const stamp = new Date(record.createdAt).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
    const run = { ...record, id: `${record.template}-${stamp}-${randomBytes(2).toString('hex')}`, number };
    await mkdir(this.layout.run(run.id), { recursive: true });
    await this.write(run);
    return run;
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
    const matches = runs.filter((run) => run.id.startsWith(name));
    if (matches.length === 1) return matches[0]!;
    throw new Error(matches.length ? `"${name}" could be any of ${matches.length} runs` : `there is no run "${name}" in ${this.layout.base}; \`rl-sandboxes list\` shows what is there`);
  }

  async remove(id: string): Promise<void> {
    await rm(this.layout.run(id), { recursive: true, force: true });
  }
}
