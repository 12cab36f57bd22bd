/** One sandbox that this engine holds for a person, with what was opened for it. */
import type { Duplex } from 'node:stream';
import { LONGEST_LIFE_MS } from '../../rollout/episode.js';
import { Redactor } from '../../rollout/secrets.js';
import { startServices, type Service } from '../../rollout/services.js';
import { discard } from '../../rollout/teardown.js';
import { Unsupported } from '../../sandbox/errors.js';
import type { ListeningPort, Provider, Sandbox, SandboxSettings } from '../../sandbox/provider.js';
import type { SnapshotRecord } from '../../store/records.js';
import type { ServiceSpec } from '../../template/template.js';
import type { SandboxOrigin, SandboxReport, SandboxUsage, ServiceReport } from '../sandboxReports.js';
import { Forwards } from './forwards.js';
import { Reader } from './reader.js';
import type { Refusals } from './refusals.js';

/** Nobody sees more often how busy it is. */
const MEASURE_INTERVAL_MS = 900;
/** How long before its end that is told, or a fifth of its time if that is less. */
const WARN_MS = 60_000;
/** A timer takes no more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What a sandbox was made from and with. */
export interface Making {
  readonly origin: Exclude<SandboxOrigin, 'other'>;
  readonly provider: Provider;
  readonly snapshot: SnapshotRecord;
  readonly spec: SandboxSettings;
  readonly secrets: Readonly<Record<string, string>>;
  readonly refusals?: Refusals;
  /** Absolute path of its template. */
  readonly file?: string;
  /** Gives back what it needed as long as it lived. */
  readonly cleanUp?: () => Promise<void>;
}

export interface HeldEvents {
  readonly onChange: () => void;
  readonly onExpiring: (held: Held, remainingMs: number) => void;
  /** Nothing is left of it. */
  readonly onEnded: (held: Held) => void;
}

export class Held {
  readonly services: Service[] = [];
  readonly forwards: Forwards;
  readonly redactor: Redactor;
  /** Aborts when it ends. */
  readonly ended: AbortSignal;
  private readonly ending = new AbortController();
  private readonly since = performance.now();
  /** On the clock that only goes forward: the machine's own may be set. */
  private deadline: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private usage: { readonly value: SandboxUsage } | undefined;
  private measuring: Promise<SandboxUsage> | undefined;
  private readonly reader = new Reader(() => this.restoreAgain());
  private termination: Promise<void> | undefined;

  constructor(
    readonly sandbox: Sandbox,
    readonly making: Making,
    keepMs: number,
    private readonly events: HeldEvents,
  ) {
    this.ended = this.ending.signal;
    this.redactor = new Redactor(making.secrets);
    this.forwards = new Forwards((port) => this.connect(port), events.onChange);
    this.keep(keepMs);
    void sandbox.ended.then(() => this.terminate());
  }

  get id(): string {
    return this.sandbox.id;
  }

  /** From now on it stays for so long; with a negative number until somebody ends it. */
  keep(keepMs: number): void {
    clearTimeout(this.timer);
    this.deadline = keepMs < 0 ? undefined : performance.now() + Math.min(keepMs, LONGEST_LIFE_MS);
    if (this.deadline !== undefined) this.wait(Math.min(WARN_MS, keepMs / 5), true);
    this.events.onChange();
  }

  get remainingMs(): number | null {
    return this.deadline === undefined ? null : Math.max(0, this.deadline - performance.now());
  }

  /** Rejects with why one is not ready; those before it go on. */
  startServices(specs: readonly ServiceSpec[], signal: AbortSignal): Promise<void> {
    const context = { signal: AbortSignal.any([signal, this.ended]), clean: this.redactor.clean.bind(this.redactor), onChange: this.events.onChange };
    return startServices(this.sandbox, specs, this.services, context);
  }

  /** Its processes are put on disk, until `resume`. Its time goes on. Rejects with why it cannot be. */
  async suspend(signal: AbortSignal): Promise<void> {
    await this.requireSuspension().suspend!({ signal: AbortSignal.any([signal, this.ended]) }).finally(this.events.onChange);
  }

  async resume(signal: AbortSignal): Promise<void> {
    await this.requireSuspension().resume!({ signal: AbortSignal.any([signal, this.ended]) }).finally(this.events.onChange);
  }

  private requireSuspension(): Sandbox {
    if (!this.sandbox.suspend) throw new Unsupported(`${this.making.provider.title} cannot suspend a sandbox`);
    return this.sandbox;
  }

  connect(port: number): Promise<Duplex> {
    return this.sandbox.connect(port, { signal: this.ended });
  }

  /** What it uses now; asked at most about once a second, however many want to know. */
  measure(): Promise<SandboxUsage> {
    const last = this.usage?.value;
    if (last && performance.now() - last.at < MEASURE_INTERVAL_MS) return Promise.resolve(last);
    return (this.measuring ??= this.measureAgain(last).finally(() => (this.measuring = undefined)));
  }

  private async measureAgain(last: SandboxUsage | undefined): Promise<SandboxUsage> {
    const { cpuMs, memory, pids } = await this.sandbox.stats({ signal: this.ended });
    const at = performance.now();
    const value = { cpuMs, memory, pids, at, cpu: last ? Math.max(0, (cpuMs - last.cpuMs) / (at - last.at)) : null };
    this.usage = { value };
    return value;
  }

  /** A sandbox as this one was at first, to read from; it ends by itself. */
  original(): Promise<Sandbox> {
    return this.reader.sandbox();
  }

  /** Of the sandbox that originals are read from. */
  get readerId(): string | undefined {
    return this.reader.id;
  }

  private restoreAgain(): Promise<Sandbox> {
    const { provider, snapshot, spec } = this.making;
    const { owner, template, digest } = this.sandbox.info.labels;
    const labels = { owner, template, digest, snapshot: snapshot.id, expires: Date.now() + LONGEST_LIFE_MS };
    return provider.restore(snapshot, { ...spec, env: {}, network: 'none', labels, lifetimeMs: LONGEST_LIFE_MS }, { signal: this.ended });
  }

  /** Resolves when nothing of it is left, or cannot be made to go. */
  terminate(): Promise<void> {
    return (this.termination ??= this.end());
  }

  private async end(): Promise<void> {
    clearTimeout(this.timer);
    this.ending.abort(new Error('the sandbox has ended'));
    await Promise.all([discard(this.sandbox), this.forwards.close(), this.reader.end()]);
    await this.making.cleanUp?.();
    this.events.onEnded(this);
  }

  /** `warns`: whether the end is still to be told, so long before it. */
  private wait(warnMs: number, warns: boolean): void {
    const left = this.deadline! - performance.now();
    const until = warns ? left - warnMs : left;
    if (until <= 0 && !warns) return void this.terminate();
    if (until <= 0) this.events.onExpiring(this, Math.max(0, left));
    const next = until <= 0 ? Math.max(0, left) : until;
    this.timer = setTimeout(() => this.wait(warnMs, until > 0 && warns), Math.min(next, LONGEST_TIMER_MS));
  }

  async report(measure: boolean): Promise<SandboxReport> {
    const [usage, ports] = measure && this.sandbox.info.state !== 'suspended' ? await Promise.all([this.measure().catch(() => undefined), this.sandbox.ports({ signal: this.ended }).catch((): ListeningPort[] => [])]) : [];
    const { origin, file, spec, refusals } = this.making;
    return {
      ...this.sandbox.info,
      ...(this.termination ? { state: 'exited' } : {}),
      origin,
      file,
      attached: true,
      orphan: false,
      ageMs: performance.now() - this.since,
      remainingMs: this.remainingMs,
      usage: this.sandbox.info.state === 'suspended' ? undefined : (usage ?? this.usage?.value),
      ports,
      network: { policy: spec.network, ...refusals?.report() },
      memorySnapshots: this.making.provider.capabilities.memorySnapshot,
      suspendable: this.making.provider.capabilities.suspend === true && origin !== 'kept',
      forwards: this.forwards.list(),
      services: this.services.map(reportOf),
    };
  }
}

export const reportOf = ({ name, state, problem, readyMs }: Service): ServiceReport => ({ name, state, problem, readyMs });
