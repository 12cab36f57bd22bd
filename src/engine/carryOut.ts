/** Carries out a run from build to final record. */
import { setTimeout as pause } from 'node:timers/promises';
import type { EpisodeGpus } from '../rollout/episode.js';
import { holdGpus, requireGpus, type Need } from '../rollout/gpus.js';
import type { ManualSeats, Policy } from '../rollout/policies/index.js';
import { CostReached } from '../rollout/meter.js';
import { runEpisodes } from '../rollout/run.js';
import { settingsOf } from '../rollout/settings.js';
import type { Provider, Resources, Sandbox } from '../sandbox/provider.js';
import { EpisodeLog } from '../store/episodeLog.js';
import type { RunRecord, SnapshotRecord } from '../store/records.js';
import { askedDigests } from '../template/digest.js';
import type { RewardComponentSpec, Template } from '../template/template.js';
import { scoringTemplate, type BuildRequest } from './builds.js';
import type { Engine } from './engine.js';
import { RunCancelled, type LiveRun } from './liveRun.js';
import type { Choice } from './providers.js';
import { Bill, type Billing } from './billing.js';
import { reap } from './reap.js';
import type { BuildResult } from './reports.js';
import { RunReader, totals } from './runReader.js';
import { removeForgotten } from './snapshots/manage.js';

/** How often the sum is written down and told, and what sandboxes wait for. */
const COST_NOTED_MS = 2000;
/** And while sandboxes are kept after the run. */
const KEPT_NOTED_MS = 5000;

/** What a run needs, found before it has an id. */
export interface Undertaking {
  readonly template: Template;
  readonly secrets: Readonly<Record<string, string>>;
  readonly choice: Choice;
  readonly policy: Policy;
  readonly seats: ManualSeats;
  /** If its sandboxes are paid for. */
  readonly billing: Billing | undefined;
  readonly rebuild?: boolean;
}

/** Never rejects: how it ended is in the record, and the error itself in `live.failure`. */
export async function carryOut(live: LiveRun, { template, secrets, choice, policy, billing, rebuild }: Undertaking, engine: Engine): Promise<RunRecord> {
  const { maxCost } = live.record;
  const bill = billing && new Bill(live.record, billing, () => live.capReached(maxCost!));
  live.meter = bill?.meter;
  live.waits = () => {
    const waits = choice.provider.waits?.();
    return waits && { title: choice.provider.title, ...waits };
  };
  const tell = (bill ?? choice.provider.waits) && setInterval(() => void update(live, engine, {}).catch(() => undefined), COST_NOTED_MS);
  let log: EpisodeLog | undefined;
  /** Keeps snapshots from being deleted while the run restores from them. */
  const uses: (() => void)[] = [];
  let tidied: Promise<void> | undefined;
  try {
    await update(live, engine, {});
    // A service takes its time to answer, so the build does not wait for it; the episodes do.
    tidied = reap([choice.provider]).then(() => removeForgotten(engine, choice.provider));
    tidied.catch(() => undefined);
    const request = { signal: live.signal, secrets: () => Promise.resolve(secrets), onOutput: (text: string) => live.output(text), rebuild };
    const build = (what: Template, { provider }: Choice, how: BuildRequest) => {
      const building = () => engine.builds.build(what, provider, how);
      return bill ? bill.during(provider.id, what.resources, building, ({ built }) => built) : building();
    };
    const kept = live.record.fork?.snapshot ?? live.record.from;
    const { snapshot, built } = kept === undefined ? await build(template, choice, request) : { snapshot: await engine.snapshots.find(kept), built: false };
    uses.push(engine.uses.hold(snapshot.id));
    const scoring = await prepareScoring(template, choice.provider, request, engine, uses, bill, build);
    log = await EpisodeLog.open(engine.layout.episodesFile(live.record.id));
    const done = await takeInFinished(live, engine);
    const asked = await askedDigests(template, scoring.digests, live.signal);
    if (done.size > 0) requireUnchanged(live.record, { templateDigest: snapshot.digest, asked });
    await tidied;
    await update(live, engine, {
      state: 'running',
      startedAt: Date.now(),
      templateDigest: snapshot.digest,
      asked,
      snapshot: { id: snapshot.id, built, buildMs: built ? snapshot.buildMs : 0 },
    });
    await runEpisodes(
      {
        run: live.record,
        template,
        policy,
        provider: bill ? { restore: async (...how) => bill.watch(await choice.provider.restore(...how), template.resources) } : choice.provider,
        restoresAtOnce: choice.provider.capabilities.restoresAtOnce,
        snapshot,
        log,
        done,
        secrets,
        environment: engine.caller.environment,
        labels: { owner: engine.owner, run: live.record.id, template: template.name, digest: snapshot.digest, snapshot: snapshot.id },
        episodeFolder: (episode) => engine.layout.episode(live.record.id, episode),
        holdGpus: scoring.holdGpus,
        openScoringSandbox: (component, resources, signal) => scoring.open(component, resources, live.record.id, signal),
        keepWarm: (sandbox, milliseconds) => {
          const making = { origin: 'kept', provider: choice.provider, snapshot, spec: settingsOf(template, secrets), secrets, file: template.file } as const;
          // One that comes when the engine is closing has been ended.
          void engine.held.hold(sandbox, making, milliseconds).catch(() => undefined);
        },
        onStart: () => live.started(),
        onFinish: (finished) => live.finished(finished),
      },
      live.signal,
    );
    await finish(live, engine, { state: 'done' });
  } catch (error) {
    const stopped = { underWay: live.running, notStarted: live.record.total - live.sofar.finished - live.running };
    if (live.signal.reason instanceof CostReached) await finish(live, engine, { state: 'cancelled', stopped: { by: 'max_cost', ...stopped }, error: `${live.signal.reason.message}; ${unfinished(stopped)}` });
    else if (error instanceof RunCancelled || live.signal.aborted) await finish(live, engine, { state: 'cancelled', stopped: { by: 'person', ...stopped } });
    else {
      live.failure = error;
      await finish(live, engine, { state: 'failed', error: (error as Error).message });
    }
  } finally {
    clearInterval(tell);
    for (const letGo of uses) letGo();
    if (bill) void noteKept(live, bill, engine);
    await Promise.allSettled([tidied, log?.close(), policy.close?.()]);
  }
  return live.record;
}

async function update(live: LiveRun, engine: Engine, change: Partial<RunRecord>): Promise<void> {
  live.record = { ...live.current, ...change };
  // One after the other: what is written last is what stays.
  const writing = live.writing.then(() => engine.runs.write(live.record));
  live.writing = writing.catch(() => undefined);
  await writing;
  live.changed();
}

/** A disk that is full must not hide how the run ended: the record in memory says it all the same. */
async function finish(live: LiveRun, engine: Engine, end: Partial<RunRecord>): Promise<void> {
  live.running = 0;
  const record = { ...live.current, ...end, finishedAt: Date.now() };
  await update(live, engine, { ...record, summary: totals(live.aggregate, record) }).catch(() => live.changed());
}

const unfinished = ({ underWay, notStarted }: Omit<NonNullable<RunRecord['stopped']>, 'by'>): string =>
  `${underWay} ${underWay === 1 ? 'episode that was under way was' : 'episodes that were under way were'} ended, ${notStarted} ${notStarted === 1 ? 'was' : 'were'} not started, and none of these has a record`;

/** Sandboxes that are kept after a run are paid for until they end: the sum is noted while they live, and told. */
async function noteKept(live: LiveRun, { meter }: Bill, engine: Engine): Promise<void> {
  await live.ended;
  if (meter.state.perSecond === 0) return;
  const over = meter.settled().then(() => true);
  for (let settled = false; !settled; ) {
    settled = await Promise.race([over, pause(KEPT_NOTED_MS, false, { ref: false })]);
    const stored = await engine.runs.read(live.record.id).catch(() => undefined);
    // One that was resumed counts anew from what was noted, and one that was deleted stays so.
    if (!stored || stored.finishedAt !== live.record.finishedAt || engine.live.has(stored.id)) return;
    await engine.runs.write({ ...stored, cost: meter.state }).catch(() => undefined);
    live.changed();
  }
}

/** What a resumed run has already. */
async function takeInFinished(live: LiveRun, engine: Engine): Promise<Set<number>> {
  const reader = new RunReader(engine.layout, live.record);
  await reader.refresh();
  const done = new Set<number>();
  for (const record of reader.records) {
    done.add(record.episode);
    live.takeIn(record);
  }
  return done;
}

/** The rewards of a run are those of one template: the mean over two would be nobody's. */
function requireUnchanged(before: RunRecord, after: Required<Pick<RunRecord, 'templateDigest' | 'asked'>>): void {
  const changed = [
    ...(before.templateDigest === after.templateDigest ? [] : ['what it builds']),
    // Runs of before these were kept say nothing of them.
    ...(before.asked === undefined || before.asked.episode === after.asked.episode ? [] : ['its episode']),
    ...(before.asked === undefined || before.asked.reward === after.asked.reward ? [] : ['its reward']),
  ];
  if (changed.length > 0) throw new Error(`the template has changed since the run began (${changed.join(', ')}): change it back to resume, or start another run`);
}

const SCORING_SLACK_MS = 10 * 60_000;

/** Builds the snapshots of all second sandboxes before the first episode, so that a wrong one is found out early. */
async function prepareScoring(template: Template, provider: Provider, request: BuildRequest, engine: Engine, uses: (() => void)[], bill: Bill | undefined, build: (what: Template, choice: Choice, how: BuildRequest) => Promise<BuildResult>) {
  const prepared = new Map<RewardComponentSpec, { scorer: Template; snapshot: SnapshotRecord; choice: Choice }>();
  for (const component of template.reward) {
    if (component.type !== 'sandbox') continue;
    const scorer = scoringTemplate(template, component);
    const choice = await engine.providers.choose(scorer, undefined, undefined, request.signal);
    const { snapshot } = await build(scorer, choice, request);
    uses.push(engine.uses.hold(snapshot.id));
    prepared.set(component, { scorer, choice, snapshot });
  }
  const components = [...prepared.keys()];
  const needs: readonly Need[] = [{ provider, resources: template.resources }, ...components.map((component) => ({ provider: prepared.get(component)!.choice.provider, resources: prepared.get(component)!.scorer.resources }))];
  await requireGpus(needs, request.signal);
  const hold = async (signal: AbortSignal): Promise<EpisodeGpus> => {
    const held = await holdGpus(needs, signal);
    return { episode: held.resources[0]!, scoring: (component) => held.resources[1 + components.indexOf(component)]!, release: () => held.release() };
  };
  const open = async (component: RewardComponentSpec, resources: Resources, run: string, signal: AbortSignal): Promise<Sandbox> => {
    const { scorer, choice, snapshot } = prepared.get(component)!;
    const lifetimeMs = component.timeout + SCORING_SLACK_MS;
    const labels = { owner: engine.owner, run, template: scorer.name, digest: snapshot.digest, snapshot: snapshot.id, expires: Date.now() + lifetimeMs };
    const sandbox = await choice.provider.restore(snapshot, { ...settingsOf(scorer), resources, labels, lifetimeMs }, { signal, lazily: true });
    return bill ? bill.watch(sandbox, scorer.resources) : sandbox;
  };
  return { open, holdGpus: hold, digests: [...prepared.values()].map(({ snapshot }) => snapshot.digest) };
}
