/**
 * The one public API over templates, snapshots, runs and sandboxes of one workspace folder. The command line uses it in its own
 * process, the runner serves it to all who connect.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { EpisodeDetail, Groups, GroupsQuery, Rows, RowsQuery, RunSnapshot } from '../protocol/runView.js';
import { forked, ManualSeats, openPolicy, type ManualAction, type ManualAnswer, type Policy } from '../rollout/policies/index.js';
import { readSecrets } from '../rollout/secrets.js';
import { currentOwner, isOwnerAlive } from '../sandbox/owner.js';
import { Layout } from '../store/layout.js';
import type { ForkOrigin, RunRecord } from '../store/records.js';
import { acquireLock, releaseLock } from '../store/lock.js';
import { RunStore } from '../store/runStore.js';
import { SnapshotStore } from '../store/snapshotStore.js';
import { loadTemplate } from '../template/load.js';
import { parseTemplate, type ParsedTemplate } from '../template/parse.js';
import { seedCount, type SeedSet, type Template } from '../template/template.js';
import { billingOf } from './billing.js';
import { Builds, type BuildRequest } from './builds.js';
import { relevant, thisProcess, type Caller } from './caller.js';
import { carryOut, type Undertaking } from './carryOut.js';
import { readEpisode } from './episodeDetail.js';
import { LiveRun, type LiveRunEvents } from './liveRun.js';
import { Providers, type Choice } from './providers.js';
import type { BuildResult, RunSummary } from './reports.js';
import { RunReader, totals } from './runReader.js';
import { parseSeeds } from './seeds.js';
import { forkOf, type ForkRequest } from './sandboxes/fork.js';
import { LiveSandboxes } from './sandboxes/liveSandboxes.js';
import { startOf } from './snapshots/startOf.js';
import { deleteSnapshot } from './snapshots/manage.js';
import { Looks } from './snapshots/looks.js';
import { SnapshotUses } from './snapshots/uses.js';

export { shareGpus } from '../rollout/gpus.js';
export { POLICY_NAMES } from '../rollout/policies/index.js';
export type { ManualAction, ManualAnswer } from '../rollout/policies/index.js';

const DEFAULT_CONCURRENCY = 64;

/** What may be asked of a run besides its template. */
export interface RunRequest {
  readonly seeds?: string;
  readonly samples?: number;
  readonly concurrency?: number;
  readonly provider?: string;
  readonly timeoutMs?: number;
  /** Name of a policy; the template's own if absent. */
  readonly policy?: string;
  /** Of the policy `replay`: path of a trace. */
  readonly trace?: string;
  readonly rebuild?: boolean;
  /** Id of a snapshot that episodes start from in place of the template's build. */
  readonly snapshot?: string;
  /** Dollars that it may cost; the template's own if absent. */
  readonly maxCost?: number;
}

export interface EngineOptions {
  /** The workspace folder. */
  readonly root: string;
  readonly log?: (message: string) => void;
  /** A sandbox that is held for a person came, went, or has changed. */
  readonly onSandboxes?: () => void;
  /** One will be ended soon, unless it is extended. */
  readonly onExpiring?: (sandbox: { readonly id: string; readonly provider: string }, remainingMs: number) => void;
}

/** What there is once for a folder, whoever asks. */
interface Shared {
  readonly layout: Layout;
  readonly runs: RunStore;
  readonly snapshots: SnapshotStore;
  readonly owner: string;
  readonly live: Map<string, LiveRun>;
  readonly held: LiveSandboxes;
  readonly uses: SnapshotUses;
  readonly looks: Looks;
  readonly readers: Map<string, RunReader>;
  /** By the variables that lead to them. */
  readonly places: Map<string, Place>;
  readonly log: (message: string) => void;
}

/** Where a caller's sandboxes and snapshots are. */
interface Place {
  readonly providers: Providers;
  readonly builds: Builds;
}

export class Engine {
  readonly layout: Layout;
  readonly runs: RunStore;
  readonly snapshots: SnapshotStore;
  readonly providers: Providers;
  readonly owner: string;
  readonly live: Map<string, LiveRun>;
  readonly held: LiveSandboxes;
  readonly uses: SnapshotUses;
  readonly looks: Looks;
  readonly builds: Builds;
  private readonly readers: Map<string, RunReader>;

  private constructor(
    private readonly shared: Shared,
    readonly caller: Caller,
  ) {
    ({ layout: this.layout, runs: this.runs, snapshots: this.snapshots, owner: this.owner, live: this.live, held: this.held, uses: this.uses, looks: this.looks, readers: this.readers } = shared);
    ({ providers: this.providers, builds: this.builds } = placeOf(shared, caller));
  }

  static async open({ root, log = () => undefined, onSandboxes = () => undefined, onExpiring = () => undefined }: EngineOptions): Promise<Engine> {
    const layout = new Layout(root);
    const shared: Shared = {
      layout,
      log,
      runs: new RunStore(layout),
      snapshots: new SnapshotStore(layout),
      owner: await currentOwner(),
      live: new Map(),
      held: new LiveSandboxes({ onChange: onSandboxes, onExpiring }),
      uses: new SnapshotUses(),
      looks: new Looks(),
      readers: new Map(),
      places: new Map(),
    };
    return new Engine(shared, thisProcess);
  }

  /** The same engine for somebody else: the same runs, with the providers and secrets that the other's environment leads to. */
  for(caller: Caller): Engine {
    return new Engine(this.shared, caller);
  }

  /** Rejects with `TemplateError`, `BuildFailed` or an infrastructure error. */
  async build(file: string, request: Omit<BuildRequest, 'secrets'> & { provider?: string }): Promise<BuildResult & { choice: Choice; template: Template }> {
    const { template, parsed } = await load(file);
    const choice = await this.providers.choose(template, parsed, request.provider, request.signal);
    await this.layout.prepare();
    return { ...(await this.builds.build(template, choice.provider, { ...request, secrets: () => this.secrets(template) })), choice, template };
  }

  /** What a template names as secrets, from the caller's environment. Rejects with `MissingSecret`. */
  async secrets(template: Template): Promise<Readonly<Record<string, string>>> {
    const names = Object.values(template.secrets);
    return names.length === 0 ? {} : readSecrets(template, await this.caller.variables(names));
  }

  private async policy({ policy: name, trace, fork }: Pick<RunRecord, 'policy' | 'trace' | 'fork'>, template: Template, secrets: Readonly<Record<string, string>>, seats: ManualSeats): Promise<Policy> {
    const policy = await openPolicy(name, { template, trace, seats, secrets, ...this.caller });
    return fork ? forked(policy, fork) : policy;
  }

  /**
   * Begins a run; resolves as soon as it has an id. Rejects, with nothing written, if the template is wrong, a secret is missing or no
   * provider can be used.
   */
  async start(file: string, request: RunRequest = {}, events: LiveRunEvents = {}, fork?: ForkOrigin): Promise<LiveRun> {
    const { template, parsed } = await load(file);
    const secrets = await this.secrets(template);
    const from = request.snapshot === undefined ? undefined : await startOf(this, template, request.snapshot);
    const choice = await this.providers.choose(template, parsed, from?.provider ?? request.provider);
    const trace = request.trace === undefined ? undefined : resolve(request.trace);
    const seats = new ManualSeats();
    const policy = await this.policy({ policy: request.policy ?? template.policy.name, trace, fork }, template, secrets, seats);
    const seeds: SeedSet = request.seeds === undefined ? template.episode.seeds : parseSeeds(request.seeds);
    const samples = positive('samples', request.samples ?? template.episode.samples);
    const maxCost = dollars(request.maxCost) ?? template.maxCost;
    const { billing, unknown } = await billingOf(this.layout, template, choice.provider.id, maxCost);
    const record = await this.runs.create({
      maxCost,
      costUnknown: unknown,
      file: template.file,
      template: template.name,
      provider: choice.provider.id,
      seeds,
      samples,
      concurrency: positive('concurrency', request.concurrency ?? DEFAULT_CONCURRENCY),
      timeoutMs: positive('timeout', request.timeoutMs ?? template.episode.timeoutMs),
      policy: policy.description.name,
      trace,
      fork,
      from: from?.id,
      state: 'building',
      owner: this.owner,
      createdAt: Date.now(),
      templateDigest: '',
      total: seedCount(seeds) * samples,
    });
    return this.launch(record, { template, secrets, choice, policy, seats, billing, rebuild: request.rebuild }, events);
  }

  /** Runs the episodes of an interrupted or cancelled run that are missing; what it has cost counts on, to the same cap or to another. */
  async resume(name: string, events: LiveRunEvents = {}, { maxCost }: Pick<RunRequest, 'maxCost'> = {}): Promise<LiveRun> {
    const { id } = await this.runs.find(name);
    const folder = this.layout.run(id);
    if (!(await acquireLock(folder))) throw new Error(`run ${id} is still running`);
    const release = (): Promise<void> => releaseLock(folder).catch(() => undefined);
    try {
      const live = await this.takeUp(await this.runs.read(id), dollars(maxCost), events);
      live.ended = live.ended.finally(release);
      return live;
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** `stored` as it is now that no other process can take it up. */
  private async takeUp(stored: RunRecord, maxCost: number | undefined, events: LiveRunEvents): Promise<LiveRun> {
    const record = { ...stored, maxCost: maxCost ?? stored.maxCost };
    if (record.maxCost !== undefined && (record.cost?.spent ?? 0) >= record.maxCost) throw new Error(`run ${record.id} has cost the $${Number(record.maxCost.toPrecision(6))} that it may: give it a higher --max-cost`);
    if ((await this.withState(record)).state === 'running' || this.live.has(record.id)) throw new Error(`run ${record.id} is still running`);
    const { template, parsed } = await load(record.file);
    const secrets = await this.secrets(template);
    const choice = await this.providers.choose(template, parsed, record.provider);
    const { billing, unknown } = await billingOf(this.layout, template, choice.provider.id, record.maxCost);
    const seats = new ManualSeats();
    return this.launch({ ...record, owner: this.owner, state: 'building', error: undefined, stopped: undefined, costUnknown: unknown, finishedAt: undefined, summary: undefined }, { template, secrets, choice, seats, billing, policy: await this.policy(record, template, secrets, seats) }, events);
  }

  /** A new run over the same seeds, or over those episodes that failed or have no reward. */
  async rerun(name: string, only: 'failed' | undefined, events: LiveRunEvents = {}): Promise<LiveRun> {
    const old = await this.runs.find(name);
    if (only === undefined) return this.again(old, old, events);
    const { records } = await this.reader(old.id);
    const failed = records.filter((record) => record.status === 'error' || record.reward === null).map((record) => record.episode);
    if (failed.length === 0) throw new Error(`no episode of run ${old.id} failed`);
    return this.again(old, { ...old, only: failed }, events);
  }

  /** A new run that takes the actions of an old one's finished episodes again, or those of one of them. */
  async replay(name: string, episode?: number, events: LiveRunEvents = {}): Promise<LiveRun> {
    const old = await this.runs.find(name);
    const { records } = await this.reader(old.id);
    const only = [...new Set(records.map((record) => record.episode))].filter((each) => episode === undefined || each === episode);
    if (only.length === 0) throw new Error(episode === undefined ? `no episode of run ${old.id} is finished` : `episode ${episode} of run ${old.id} is not finished`);
    return this.again(old, { policy: 'replay', trace: this.layout.run(old.id), only }, events);
  }

  /** A new run whose episodes begin where a recorded one was after a step. Rejects with `SnapshotGone`, or as `start` does. */
  async fork(request: ForkRequest, events: LiveRunEvents = {}): Promise<LiveRun> {
    const { file, fork, provider, seed, timeoutMs } = await forkOf(this, request);
    const { policy, samples = 1, concurrency } = request;
    return this.start(file, { policy, samples, concurrency, provider, seeds: `${seed}..${seed}`, timeoutMs: request.timeoutMs ?? timeoutMs }, events, fork);
  }

  /** Does something in an episode of a live run whose policy is `manual`; it may be about to start. Rejects if it has ended. */
  act(id: string, episode: number, action: ManualAction): Promise<ManualAnswer> {
    const live = this.live.get(id);
    if (live?.record.policy !== 'manual') return Promise.reject(new Error(`run ${id} is not live, or nobody acts in it by hand`));
    return live.seats.act(episode, action);
  }

  private async again(old: RunRecord, { policy: act, trace, only, fork }: Pick<RunRecord, 'policy' | 'trace' | 'only' | 'fork'>, events: LiveRunEvents): Promise<LiveRun> {
    const { template, parsed } = await load(old.file);
    const secrets = await this.secrets(template);
    const choice = await this.providers.choose(template, parsed, old.provider);
    const seats = new ManualSeats();
    const policy = await this.policy({ policy: act, trace, fork }, template, secrets, seats);
    const { seeds, samples, concurrency, timeoutMs, from, maxCost } = old;
    const { billing, unknown } = await billingOf(this.layout, template, choice.provider.id, maxCost);
    const record = await this.runs.create({
      ...{ seeds, samples, concurrency, timeoutMs, from, maxCost, costUnknown: unknown, policy: act, trace, only, fork },
      file: template.file,
      template: template.name,
      provider: choice.provider.id,
      state: 'building',
      owner: this.owner,
      createdAt: Date.now(),
      templateDigest: '',
      total: only?.length ?? seedCount(seeds) * samples,
    });
    return this.launch(record, { template, secrets, choice, policy, seats, billing }, events);
  }

  private launch(record: RunRecord, undertaking: Undertaking, events: LiveRunEvents): LiveRun {
    const live = new LiveRun(record, events, undertaking.seats);
    this.live.set(record.id, live);
    live.ended = carryOut(live, undertaking, this).finally(() => this.live.delete(record.id));
    return live;
  }

  /** Newest first. A run whose owner died is `interrupted`. */
  async list(): Promise<RunSummary[]> {
    return Promise.all((await this.runs.list()).map((run) => this.describe(run)));
  }

  private async describe(stored: RunRecord): Promise<RunSummary> {
    const live = this.live.get(stored.id);
    if (live) return { run: live.current, running: live.running, ...totals(live.aggregate, live.record) };
    const run = await this.withState(stored);
    if (run.summary) return { run, running: 0, ...run.summary };
    return { run, running: 0, ...totals((await this.reader(run.id)).aggregate, run) };
  }

  private async withState(run: RunRecord): Promise<RunRecord> {
    if (!goesOn(run)) return run;
    if (this.live.has(run.id) || (run.owner !== this.owner && (await isOwnerAlive(run.owner)))) return run;
    // Nobody writes it any more: how it ended may have been written since it was read.
    const last = await this.runs.read(run.id).catch(() => run);
    return goesOn(last) ? { ...last, state: 'interrupted' } : last;
  }

  /** The record of a run as it stands; one whose owner died is `interrupted`. */
  async record(id: string): Promise<RunRecord> {
    return this.live.get(id)?.current ?? this.withState(await this.runs.read(id));
  }

  async snapshot(id: string): Promise<RunSnapshot> {
    const run = await this.record(id);
    const live = this.live.get(id);
    return (await this.reader(id)).snapshot(run, live?.running ?? 0, live?.waits());
  }

  async rows(id: string, query: RowsQuery): Promise<Rows> {
    return (await this.reader(id)).rows(query);
  }

  /** Seeds with all of their samples. */
  async groups(id: string, query: GroupsQuery): Promise<Groups> {
    return (await this.reader(id)).groups(query);
  }

  async episode(id: string, episode: number): Promise<EpisodeDetail> {
    const record = (await this.reader(id)).records.findLast((each) => each.episode === episode);
    if (!record) throw new Error(`episode ${episode} of run ${id} is not finished`);
    return readEpisode(this.layout.episode(id, episode), record);
  }

  /** Follows a run on disk; the last few that were asked for stay in memory. */
  async reader(id: string): Promise<RunReader> {
    let reader = this.readers.get(id);
    if (!reader) {
      reader = new RunReader(this.layout, await this.runs.read(id));
    }
    this.readers.delete(id);
    this.readers.set(id, reader);
    if (this.readers.size > READERS_KEPT) this.readers.delete(this.readers.keys().next().value!);
    await reader.refresh();
    return reader;
  }

  /** Resolves when nothing of it runs any more, also if nothing did. Rejects if another process carries it out. */
  async cancel(id: string): Promise<void> {
    const live = this.live.get(id);
    if (live) return live.cancel();
    const run = await this.withState(await this.runs.read(id));
    if (goesOn(run)) throw new Error(`run ${id} is carried out by process ${run.owner.split(':')[0]}; cancel it there`);
  }

  /** Cancels the run if it is live, then removes all of it. */
  async deleteRun(id: string): Promise<void> {
    await this.live.get(id)?.cancel();
    const run = await this.withState(await this.runs.read(id));
    if (goesOn(run)) throw new Error(`run ${id} is running in another process; cancel it there first`);
    this.readers.delete(id);
    await this.runs.remove(id);
  }

  /** A snapshot that is not there is a success. Rejects with `SnapshotInUse`. */
  async deleteSnapshot(id: string): Promise<void> {
    if ((await this.snapshots.list()).some((each) => each.id === id)) await deleteSnapshot(this, id);
  }

  /** Cancels every run of this process, and waits until no sandbox is left. */
  async close(): Promise<void> {
    await Promise.all([...this.live.values()].map((live) => live.cancel()));
    await Promise.all([this.held.close(), this.looks.close()]);
    await Promise.all([...this.shared.places.values()].map(({ providers }) => providers.close()));
  }
}

const READERS_KEPT = 4;

const goesOn = ({ state }: RunRecord): boolean => state === 'running' || state === 'building';

function placeOf({ layout, snapshots, owner, places, log }: Shared, { environment }: Caller): Place {
  const key = JSON.stringify(relevant(environment));
  let place = places.get(key);
  if (!place) places.set(key, (place = { providers: new Providers(layout, environment, log), builds: new Builds(snapshots, owner) }));
  return place;
}

/** A template and where everything stands in it. */
async function load(file: string): Promise<{ template: Template; parsed: ParsedTemplate }> {
  const template = await loadTemplate(file);
  return { template, parsed: parseTemplate(await readFile(template.file, 'utf8'), template.file) };
}

function dollars(value: number | undefined): number | undefined {
  if (value !== undefined && !(value > 0 && Number.isFinite(value))) throw new Error(`the cost must be capped at dollars above 0, not at ${value}`);
  return value;
}

function positive(what: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${what} must be a whole number of at least 1, not ${value}`);
  return value;
}
