/** What is known of the runs of the workspace, kept up to date by the engine's notifications. Knows nothing of VS Code. */
import type { RunSnapshot } from '../protocol/runView.js';
import type { RunSummary } from '../runner/api.js';
import { RunnerError } from '../runner/client.js';
import { Disposing, type Disposable } from './dispose.js';
import type { Runner } from './runner.js';
import { Signal } from './signal.js';
import { Throttle } from './throttle.js';
import type { RunRef } from './views/node.js';
import { isActive } from './views/runNodes.js';

export interface KnownRun {
  readonly root: string;
  readonly summary: RunSummary;
}

export interface RunsOptions {
  readonly runner: Pick<Runner, 'request' | 'on' | 'onStarted'>;
  /** Folders of the workspace. */
  readonly roots: () => readonly string[];
  readonly log: (level: 'debug' | 'warn', message: string) => void;
  /** How often the figures of a run are asked for while it runs. */
  readonly figuresMs?: number;
}

const FIGURES_MS = 500;

/** A slow engine answers late and out of order: of two answers that of the later question counts. */
interface Answer {
  readonly asked: number;
  readonly summary: RunSummary;
}

export class Runs extends Disposing {
  private readonly byRoot = new Map<string, Map<string, Answer>>();
  private readonly throttles = new Map<string, Throttle>();
  private readonly loading = new Map<string, Promise<void>>();
  /** Counts questions. */
  private asked = 0;
  private readonly changedList = this.own(new Signal<void>());
  private readonly changedRun = this.own(new Signal<KnownRun>());
  /** Runs came or went. */
  readonly onDidChangeList = this.changedList.event;
  /** State or figures of one run. */
  readonly onDidChangeRun = this.changedRun.event;

  constructor(private readonly options: RunsOptions) {
    super();
    const { runner } = options;
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
    this.own({ dispose: () => this.throttles.forEach((throttle) => throttle.dispose()) });
  }

  /** Every run of every folder, newest first; asks the engine for what is not known yet. Rejects when the engine does not answer. */
  async list(): Promise<KnownRun[]> {
    const unknown = this.options.roots().filter((root) => !this.byRoot.has(root));
    await Promise.all(unknown.map((root) => this.load(root)));
    if (unknown.length > 0) this.changedList.fire();
    return this.known();
  }

  /** What is known without asking, newest first. */
  known(): KnownRun[] {
    const open = new Set(this.options.roots());
    return [...this.byRoot]
      .filter(([root]) => open.has(root))
      .flatMap(([root, runs]) => [...runs.values()].map(({ summary }) => ({ root, summary })))
      .sort((a, b) => b.summary.run.createdAt - a.summary.run.createdAt);
  }

  get({ root, id }: RunRef): RunSummary | undefined {
    return this.byRoot.get(root)?.get(id)?.summary;
  }

  /** Asks for one run now. */
  async fetch(ref: RunRef): Promise<RunSummary> {
    // Also where no view has asked for the list yet: the status bar shows what a shortcut started.
    if (!this.byRoot.has(ref.root)) await this.load(ref.root);
    const asked = (this.asked += 1);
    const summary = summarize(await this.options.runner.request('run/snapshot', ref));
    const runs = this.byRoot.get(ref.root);
    const known = runs?.get(ref.id);
    if (known && known.asked > asked) return known.summary;
    const added = !known;
    runs?.set(ref.id, { asked, summary });
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
        this.options.runner.onStarted(ask),
      );
      ask();
    });
  }

  /** Forgets everything, so that the next `list` asks again. */
  forget(): void {
    this.byRoot.clear();
    this.changedList.fire();
  }

  /** There are other folders. */
  foldersChanged(): void {
    this.changedList.fire();
  }

  private load(root: string): Promise<void> {
    const running = this.loading.get(root);
    if (running) return running;
    const load = this.ask(root).finally(() => this.loading.delete(root));
    this.loading.set(root, load);
    return load;
  }

  private async ask(root: string): Promise<void> {
    const asked = (this.asked += 1);
    const list = await this.options.runner.request('run/list', { root });
    const later = [...(this.byRoot.get(root) ?? [])].filter(([, answer]) => answer.asked > asked);
    this.byRoot.set(root, new Map<string, Answer>([...list.map((summary) => [summary.run.id, { asked, summary }] as const), ...later]));
  }

  /** The list as it is from now on: one that is on its way may have been made before. */
  private reload(root: string): void {
    const again = async () => {
      await this.loading.get(root)?.catch(() => undefined);
      await this.load(root);
    };
    again().then(
      () => this.changedList.fire(),
      (error: unknown) => {
        this.options.log('warn', `runs of ${root}: ${String(error)}`);
        if (isLate(error)) this.throttle(root, () => this.reload(root));
      },
    );
  }

  private follow(ref: RunRef): void {
    this.fetch(ref).catch((error: unknown) => {
      this.options.log('debug', `run ${ref.id}: ${String(error)}`);
      if (isLate(error)) this.throttle(`${ref.root}\n${ref.id}`, () => this.follow(ref));
    });
  }

  private throttle(key: string, call: () => void): void {
    let throttle = this.throttles.get(key);
    if (!throttle) this.throttles.set(key, (throttle = new Throttle(this.options.figuresMs ?? FIGURES_MS, call)));
    throttle.trigger();
  }
}

/** Whether an engine is only slow: a change is told once, so it is asked again. */
const isLate = (error: unknown): boolean => error instanceof RunnerError && error.code === 'Timeout';

const summarize = ({ run, running, finished, counts, stats, episodesPerSecond }: RunSnapshot): RunSummary => ({
  ...{ run, running, finished, episodesPerSecond },
  errors: counts.error,
  unscored: stats.unscored,
  mean: stats.mean,
  ci95: stats.ci95,
});
