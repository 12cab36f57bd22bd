/** After a runner that was killed: ends its sandboxes on every provider that answers, and finds its runs, which can be resumed. */
import { access } from 'node:fs/promises';
import type { Caller } from '../engine/caller.js';
import { reap } from '../engine/reap.js';
import type { RunSummary } from '../engine/reports.js';
import { Layout } from '../store/layout.js';
import type { RunPlace } from './api.js';
import type { Engines } from './engines.js';
import type { Journal, Site } from './journal.js';

type Log = (level: 'info' | 'warn', message: string) => void;

export class Recovery {
  private readonly untold = new Map<string, RunPlace>();
  private readonly runs = new Map<string, RunPlace>();
  /** Resolves when the runs are known; the sandboxes are ended after that. */
  private readonly found: Promise<void>;

  constructor(
    private readonly journal: Journal,
    private readonly engines: Engines,
    private readonly log: Log,
  ) {
    this.found = this.findRuns().catch((error: Error) => log('warn', `looking for runs to resume: ${error.message}`));
    void this.found.then(() => this.reapAll());
  }

  /** Runs to resume in these folders that nobody was told of. */
  async take(roots: readonly string[]): Promise<readonly RunPlace[]> {
    await this.found;
    const taken = [...this.untold.values()].filter(({ root }) => roots.includes(root));
    for (const { id } of taken) this.untold.delete(id);
    return taken;
  }

  /** All that nobody has resumed or removed. */
  async interrupted(): Promise<readonly { readonly root: string; readonly summary: RunSummary }[]> {
    await this.found;
    const roots = [...new Set([...this.runs.values()].map(({ root }) => root))];
    const lists = await Promise.all(
      roots.map(async (root) => {
        const engine = await this.engines.get(root, nobody({}));
        return (await engine.list()).filter(({ run }) => run.state === 'interrupted' && this.runs.has(run.id)).map((summary) => ({ root, summary }));
      }),
    );
    return lists.flat();
  }

  private async sites(): Promise<readonly Site[]> {
    const sites = this.journal.inherited?.sites ?? [];
    const there = await Promise.all(sites.map(({ root }) => access(new Layout(root).base).then(() => true, () => false)));
    return sites.filter((_, index) => there[index]);
  }

  private async findRuns(): Promise<void> {
    const owners = this.journal.inherited?.owners ?? [];
    for (const root of new Set((await this.sites()).map((site) => site.root))) {
      const engine = await this.engines.get(root, nobody({}));
      for (const { run } of await engine.list()) {
        if (run.state !== 'interrupted' || !owners.includes(run.owner)) continue;
        this.runs.set(run.id, { root, id: run.id });
        this.untold.set(run.id, { root, id: run.id });
        this.log('info', `run ${run.id} in ${root} was interrupted and can be resumed`);
      }
    }
  }

  /** What cannot be reached now is reaped before the next run on its provider. */
  private async reapAll(): Promise<void> {
    if (!this.journal.inherited) return;
    for (const { root, environment } of await this.sites()) {
      try {
        const engine = await this.engines.get(root, nobody(environment));
        const ended = await reap(await engine.providers.answering());
        for (const { id, provider } of ended) this.log('info', `ended ${id} on ${provider}, which a dead process had left`);
      } catch (error) {
        this.log('warn', `looking for sandboxes that were left in ${root}: ${(error as Error).message}`);
      }
    }
    await this.journal.settled().catch((error: Error) => this.log('warn', `the journal: ${error.message}`));
  }
}

const nobody = (environment: NodeJS.ProcessEnv): Caller => ({ environment, variables: () => Promise.resolve({}) });
