/** Live sandboxes: asked for while a person looks at them, and whenever they change then. Knows nothing of VS Code. */
import type { SandboxReport } from '../runner/sandboxApi.js';
import { Disposing } from './dispose.js';
import type { Runner } from './runner.js';
import { Signal } from './signal.js';
import { Throttle } from './throttle.js';
import type { SandboxRef } from './views/node.js';

export interface KnownSandbox {
  readonly root: string;
  readonly sandbox: SandboxReport;
}

export interface SandboxesOptions {
  readonly runner: Pick<Runner, 'request' | 'on' | 'onStarted'>;
  /** Folders whose sandboxes are meant; none in a workspace that is not trusted, since providers look for them with what lies in its folder. */
  readonly roots: () => readonly string[];
  readonly pollMs?: number;
}

/** Listing asks every provider, which a run of hundreds of short episodes would otherwise cause ten times a second. */
const LIST_MS = 1000;
/** From the end of one measurement to the next. */
const POLL_MS = 2000;

export const sandboxKey = ({ provider, id }: Pick<SandboxRef, 'provider' | 'id'>): string => `${provider} ${id}`;
export const refOfSandbox = ({ root, sandbox }: KnownSandbox): SandboxRef => ({ root, id: sandbox.id, provider: sandbox.provider });

export class Sandboxes extends Disposing {
  private readonly changed = this.own(new Signal<readonly KnownSandbox[]>());
  /** What is known now: figures, states, which there are. */
  readonly onDidChange = this.changed.event;
  private readonly failed = this.own(new Signal<unknown>());
  /** They could not be listed; asked for again all the same. */
  readonly onDidFail = this.failed.event;
  private byKey = new Map<string, KnownSandbox>();
  private watched = false;
  /** Counts what was opened and ended from here. */
  private epoch = 0;
  /** Changed while nobody looked. */
  private stale = true;
  private asking: Promise<readonly KnownSandbox[]> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly throttle = this.own(new Throttle(LIST_MS, () => this.poll()));

  constructor(private readonly options: SandboxesOptions) {
    super();
    const { runner } = options;
    this.own(runner.on('changed', ({ kind }) => kind === 'sandboxes' && this.invalidate()));
    this.own(runner.onStarted(() => this.invalidate()));
    this.own({ dispose: () => clearTimeout(this.timer) });
  }

  /** Whether a person looks: only then are they measured again and again. */
  watch(watched: boolean): void {
    if (this.watched === watched) return;
    this.watched = watched;
    clearTimeout(this.timer);
    if (watched) this.poll();
  }

  /** They may be others by now. */
  invalidate(): void {
    this.stale = true;
    if (this.watched) this.throttle.trigger();
  }

  /** As they were last listed: those of this workspace's own first, then by age. Two folders may see the same sandbox: providers list what is on the machine. */
  known(): readonly KnownSandbox[] {
    return [...this.byKey.values()];
  }

  get(ref: Pick<SandboxRef, 'provider' | 'id'>): KnownSandbox | undefined {
    return this.byKey.get(sandboxKey(ref));
  }

  /** Asks now, or waits for the answer that is under way. Rejects with `RunnerError`. */
  list(): Promise<readonly KnownSandbox[]> {
    if (!this.asking) {
      const asking = this.ask().finally(() => this.asking === asking && (this.asking = undefined));
      this.asking = asking;
    }
    return this.asking;
  }

  /** Those known if they are sure to be up to date, else asked for. */
  async current(): Promise<readonly KnownSandbox[]> {
    return this.watched && !this.stale ? this.known() : this.list();
  }

  /** Shows at once what an answer said of a sandbox. */
  took(root: string, sandbox: SandboxReport): void {
    this.epoch += 1;
    this.publish([...this.known(), { root, sandbox }]);
  }

  /** Shows at once that one is gone. */
  dropped(ref: Pick<SandboxRef, 'provider' | 'id'>): void {
    this.epoch += 1;
    this.publish(this.known().filter(({ sandbox }) => sandboxKey(sandbox) !== sandboxKey(ref)));
  }

  private async ask(): Promise<readonly KnownSandbox[]> {
    const { runner, roots } = this.options;
    for (;;) {
      const { epoch } = this;
      this.stale = false;
      try {
        const lists = await Promise.all(roots().map(async (root) => (await runner.request('sandbox/list', { root, measure: this.watched })).map((sandbox) => ({ root, sandbox }))));
        // An answer from before something was opened or ended says less than is known by now.
        if (epoch !== this.epoch) continue;
        // The folder whose engine holds a sandbox is the one to ask about it.
        this.publish(lists.flat().sort((a, b) => Number(a.sandbox.attached) - Number(b.sandbox.attached)));
        return this.known();
      } catch (error) {
        this.stale = true;
        throw error;
      }
    }
  }

  private publish(all: Iterable<KnownSandbox>): void {
    const unique = new Map([...all].map((known) => [sandboxKey(known.sandbox), known]));
    this.byKey = new Map([...unique].sort(([, a], [, b]) => rank(a) - rank(b) || a.sandbox.createdAt - b.sandbox.createdAt || (a.sandbox.id < b.sandbox.id ? -1 : 1)));
    this.changed.fire(this.known());
  }

  private poll(): void {
    clearTimeout(this.timer);
    this.list()
      .catch((error: unknown) => this.failed.fire(error))
      .finally(() => {
        clearTimeout(this.timer);
        if (this.watched && !this.isDisposed) this.timer = setTimeout(() => this.poll(), this.options.pollMs ?? POLL_MS);
      });
  }
}

/** A person's own come before the hundreds of a run. */
const rank = ({ sandbox }: KnownSandbox): number => (sandbox.origin === 'other' ? 1 : 0);
