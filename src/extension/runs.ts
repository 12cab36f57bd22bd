/** What is known of the runs of the workspace, kept up to date by the engine's notifications. */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../protocol/runView.js';
import type { RunSummary } from '../runner/api.js';
import { Disposing, type Disposable } from './dispose.js';
import { roots } from './roots.js';
import type { Runner } from './runner.js';
import { Throttle } from './throttle.js';
import type { RunRef } from './views/node.js';
import { isActive } from './views/runNodes.js';

export interface KnownRun {
  readonly root: string;
  readonly summary: RunSummary;
}

/** How often the figures of a run are asked for while it runs. */
const FIGURES_MS = 500;

export class Runs extends Disposing {
  private readonly byRoot = new Map<string, Map<string, RunSummary>>();
  private readonly throttles = new Map<string, Throttle>();
  private readonly loading = new Map<string, Promise<void>>();
  private readonly changedList = this.own(new vscode.EventEmitter<void>());
  private readonly changedRun = this.own(new vscode.EventEmitter<KnownRun>());
  /** Runs came or went. */
  readonly onDidChangeList = this.changedList.event;
  /** State or figures of one run. */
  readonly onDidChangeRun = this.changedRun.event;

  constructor(
    private readonly runner: Runner,
    private readonly log: vscode.LogOutputChannel,
  ) {
    super();
    this.own(
      runner.on('changed', ({ root, kind, id }) => {
        if (kind === 'runs') this.throttle(root, () => this.reload(root));
        else if (kind === 'run' && id !== undefined) this.throttle(`${root}\n${id}`, () => this.follow({ root, id }));
      }),
    );
    this.own(
      runner.onStarted(() => {
        for (const root of this.byRoot.keys()) this.reload(root);
        this.changedList.fire();
      }),
    );
    this.own(vscode.workspace.onDidChangeWorkspaceFolders(() => this.changedList.fire()));
    this.own({ dispose: () => this.throttles.forEach((throttle) => throttle.dispose()) });
  }

  /** Every run of every folder, newest first; asks the engine for what is not known yet. Rejects when the engine does not answer. */
  async list(): Promise<KnownRun[]> {
    const unknown = roots().filter(({ path }) => !this.byRoot.has(path));
    await Promise.all(unknown.map(({ path }) => this.load(path)));
    if (unknown.length > 0) this.changedList.fire();
    return this.known();
  }

  /** What is known without asking, newest first. */
  known(): KnownRun[] {
    const open = new Set(roots().map(({ path }) => path));
    return [...this.byRoot]
      .filter(([root]) => open.has(root))
      .flatMap(([root, runs]) => [...runs.values()].map((summary) => ({ root, summary })))
      .sort((a, b) => b.summary.run.createdAt - a.summary.run.createdAt);
  }

  get({ root, id }: RunRef): RunSummary | undefined {
    return this.byRoot.get(root)?.get(id);
  }

  /** Asks for one run now. */
  async fetch(ref: RunRef): Promise<RunSummary> {
    // Also where no view has asked for the list yet: the status bar shows what a shortcut started.
    if (!this.byRoot.has(ref.root)) await this.load(ref.root);
    const summary = summarize(await this.runner.request('run/snapshot', ref));
    const runs = this.byRoot.get(ref.root);
    const added = !runs?.has(ref.id);
    runs?.set(ref.id, summary);
    this.changedRun.fire({ root: ref.root, summary });
    if (added) this.changedList.fire();
    return summary;
  }

  /** Resolves when the run has ended; `onProgress` sees its figures on the way. Rejects with the signal's reason. */
  ended(ref: RunRef, onProgress: (summary: RunSummary) => void, signal: AbortSignal): Promise<RunSummary> {
    return new Promise((resolve, reject) => {
      const subscriptions: Disposable[] = [];
      const settle = (end: () => void) => {
        for (const subscription of subscriptions.splice(0)) subscription.dispose();
        signal.removeEventListener('abort', abort);
        end();
      };
      const abort = () => settle(() => reject(signal.reason));
      const ask = () => void this.fetch(ref).catch((error: unknown) => settle(() => reject(error)));
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      subscriptions.push(
        this.onDidChangeRun(({ root, summary }) => {
          if (root !== ref.root || summary.run.id !== ref.id) return;
          if (isActive(summary)) onProgress(summary);
          else settle(() => resolve(summary));
        }),
        // An engine that was started again knows how the run of its predecessor ended.
        this.runner.onStarted(ask),
      );
      ask();
    });
  }

  /** Forgets everything, so that the next `list` asks again. */
  forget(): void {
    this.byRoot.clear();
    this.changedList.fire();
  }

  private load(root: string): Promise<void> {
    const running = this.loading.get(root);
    if (running) return running;
    const load = this.runner
      .request('run/list', { root })
      .then((runs) => void this.byRoot.set(root, new Map(runs.map((summary) => [summary.run.id, summary]))))
      .finally(() => this.loading.delete(root));
    this.loading.set(root, load);
    return load;
  }

  private reload(root: string): void {
    this.load(root).then(
      () => this.changedList.fire(),
      (error: unknown) => this.log.warn(`runs of ${root}: ${String(error)}`),
    );
  }

  private follow(ref: RunRef): void {
    this.fetch(ref).catch((error: unknown) => this.log.debug(`run ${ref.id}: ${String(error)}`));
  }

  private throttle(key: string, call: () => void): void {
    let throttle = this.throttles.get(key);
    if (!throttle) this.throttles.set(key, (throttle = new Throttle(FIGURES_MS, call)));
    throttle.trigger();
  }
}

const summarize = ({ run, running, finished, counts, stats, episodesPerSecond }: RunSnapshot): RunSummary => ({
  ...{ run, running, finished, episodesPerSecond },
  errors: counts.error,
  unscored: stats.unscored,
  mean: stats.mean,
  ci95: stats.ci95,
});
