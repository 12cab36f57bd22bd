/**
 * One episode: restore, act, score, terminate. Infrastructure errors are retried and are never a reward; whatever happens, the
 * sandbox is torn down before the episode counts as finished.
 */
import { ProviderUnavailable, SandboxError } from '../sandbox/errors.js';
import type { Provider, ProviderSnapshot, Resources, Sandbox, SandboxLabels, SandboxSpec } from '../sandbox/provider.js';
import type { EpisodeRecord, EpisodeStatus, EpisodeTimings, RewardOutcome, RunRecord } from '../store/records.js';
import type { Template, RewardComponentSpec } from '../template/template.js';
import { TraceWriter } from '../trace/writer.js';
import { keepArtifacts } from './artifacts.js';
import type { Limiter } from './limiter.js';
import { NetworkLog } from './networkLog.js';
import { OutputCapture } from './output.js';
import { EpisodeLimit, type Policy } from './policies/policy.js';
import { CostReached } from './meter.js';
import { MAX_ATTEMPTS, backOff } from './retry.js';
import { computeReward } from './rewards/index.js';
import { Redactor } from './secrets.js';
import { settingsOf } from './settings.js';
import { startServices, type Service } from './services.js';
import { Stage } from './stage.js';
import { discard } from './teardown.js';

/** Room for what surrounds the commands: transfers, starts, a slow machine. */
export const LONGEST_SLACK_MS = 10 * 60_000;
/** Life of a sandbox that is kept until somebody ends it. */
export const LONGEST_LIFE_MS = 7 * 24 * 3_600_000;

/** What all episodes of a run share. */
export interface EpisodeContext {
  readonly run: RunRecord;
  readonly template: Template;
  readonly policy: Policy;
  readonly provider: Pick<Provider, 'restore'>;
  readonly snapshot: ProviderSnapshot;
  readonly labels: Omit<SandboxLabels, 'expires' | 'episode'>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Of whoever asked for the run, for programs of this machine. */
  readonly environment: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  /** How many sandboxes are created at once, apart from how many episodes run. */
  readonly creation: Limiter;
  /** Waits for the GPUs of an episode and of the sandboxes of its rewards, all at once. */
  readonly holdGpus: (signal: AbortSignal) => Promise<EpisodeGpus>;
  readonly openScoringSandbox: (component: Extract<RewardComponentSpec, { type: 'sandbox' }>, resources: Resources, signal: AbortSignal) => Promise<Sandbox>;
  /** Takes over a sandbox that the template keeps after its episode. */
  readonly keepWarm: (sandbox: Sandbox, milliseconds: number) => void;
  /** Folder for what the episode leaves: output and artifacts. */
  readonly folder: (episode: number) => EpisodeFolder;
}

/** What sandboxes are made with, the GPUs that they may use in it. */
export interface EpisodeGpus {
  readonly episode: Resources;
  readonly scoring: (component: RewardComponentSpec) => Resources;
  release(): void;
}

/** Where an episode's output, trace and artifacts go. */
export interface EpisodeFolder {
  readonly path: string;
  /** Writes the outputs that are not empty, into a folder that is there. */
  writeOutput(outputs: Readonly<Record<string, Pick<OutputCapture, 'total' | 'bytes'>>>): Promise<void>;
  readonly artifacts: string;
}

export interface EpisodeId {
  readonly episode: number;
  readonly seed: number;
  readonly sample: number;
}

/** What an attempt came to; times are filled in as it goes, so that a failed one has them too. */
class Attempt {
  readonly stdout = new OutputCapture();
  readonly stderr = new OutputCapture();
  readonly verifier = new OutputCapture();
  readonly services: Service[] = [];
  readonly time = { restore: 0, act: 0, score: 0, terminate: 0 };
  status: EpisodeStatus = 'completed';
  cause: string | undefined;
  exitCode: number | undefined;
  steps = 0;
  return: number | null = null;
  artifacts = 0;
  outcome: RewardOutcome = { reward: null, components: [] };
  readonly trace: TraceWriter;
  readonly network: NetworkLog;

  constructor(
    readonly number: number,
    folder: EpisodeFolder,
    redactor: Redactor,
  ) {
    this.trace = new TraceWriter({ folder: folder.path, redact: redactor.isEmpty ? undefined : (text) => redactor.json(text) });
    this.network = new NetworkLog(this.trace);
  }

  /** The trace's last line, on disk. */
  async end(status: EpisodeStatus): Promise<void> {
    this.network.close();
    this.trace.write({ type: 'end', at: Date.now(), status, ...(this.cause === undefined ? {} : { cause: this.cause }), steps: this.steps, reward: this.outcome.reward });
    await this.trace.finish();
  }

  /** Runs one phase and books its time, also when it throws. */
  async phase<T>(name: keyof Attempt['time'], work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.time[name] = round(this.time[name] + performance.now() - start);
    }
  }
}

/** Milliseconds to the microsecond: more is noise, and it is read by people. */
const round = (ms: number): number => Math.round(ms * 1000) / 1000;

/**
 * Runs an episode to its end. Rejects only if the signal aborts, if the provider is gone (the run cannot go on), or if the folder cannot
 * be written; every other failure is a record with status `error`.
 */
export async function runEpisode(id: EpisodeId, context: EpisodeContext, signal: AbortSignal): Promise<EpisodeRecord> {
  const startedAt = Date.now();
  const start = performance.now();
  const redactor = new Redactor({ ...context.secrets, ...context.policy.secrets });
  const folder = context.folder(id.episode);
  let attempt = new Attempt(1, folder, redactor);
  begin(attempt, id, context);
  for (;;) {
    try {
      await play(id, context, attempt, redactor, signal);
      break;
    } catch (error) {
      if (signal.aborted || !(error instanceof SandboxError)) {
        if (signal.reason instanceof CostReached) attempt.cause = signal.reason.message;
        // What stopped it is what is told; a trace that cannot be ended is one without an end.
        await attempt.end(signal.aborted ? 'cancelled' : 'error').catch(() => undefined);
        signal.throwIfAborted();
        throw error;
      }
      attempt.cause = `${error.code}: ${redactor.text(error.message)}`;
      if (attempt.number === MAX_ATTEMPTS || !error.retryable) {
        attempt.status = 'error';
        attempt.outcome = { reward: null, components: [], problem: { code: 'infrastructure', message: redactor.text(error.message) } };
        if (!(error instanceof ProviderUnavailable)) break;
        await attempt.end('error').catch(() => undefined);
        throw error;
      }
      const failed = attempt;
      failed.network.close();
      await failed.trace.close();
      await backOff(failed.number + 1, signal);
      attempt = new Attempt(failed.number + 1, folder, redactor);
      begin(attempt, id, context);
      attempt.trace.note('warning', 'retry', `attempt ${failed.number} was given up: ${failed.cause}`);
    }
  }
  const { stdout, stderr, verifier, time, outcome } = attempt;
  attempt.cause ??= outcome.problem && `${outcome.problem.code}: ${redactor.text(outcome.problem.message)}`;
  const logs = Object.fromEntries(attempt.services.map(({ name, log }) => [`service-${name}`, log]));
  // The trace first: it makes the folder.
  await attempt.end(attempt.status);
  await folder.writeOutput({ stdout, stderr, verifier, ...logs });
  const timings: EpisodeTimings = { ...time, total: round(performance.now() - start) };
  return {
    ...id,
    status: attempt.status,
    ...withoutSecrets(outcome, redactor),
    cause: attempt.cause,
    exitCode: attempt.exitCode,
    steps: attempt.steps,
    attempts: attempt.number,
    startedAt,
    timings,
    output: { stdout: stdout.total, stderr: stderr.total, dropped: stdout.dropped + stderr.dropped },
    artifacts: attempt.artifacts,
  };
}

async function play(id: EpisodeId, context: EpisodeContext, attempt: Attempt, redactor: Redactor, signal: AbortSignal): Promise<void> {
  const gpus = await context.holdGpus(signal);
  let kept: Sandbox | undefined;
  try {
    kept = await playWith(gpus, id, context, attempt, redactor, signal);
  } finally {
    // Of a sandbox that is kept they stay its own.
    if (kept) void kept.ended.then(() => gpus.release());
    else gpus.release();
  }
}

/** Gives the sandbox if it is kept. */
async function playWith(gpus: EpisodeGpus, id: EpisodeId, context: EpisodeContext, attempt: Attempt, redactor: Redactor, signal: AbortSignal): Promise<Sandbox | undefined> {
  const { template, provider } = context;
  const sandbox = await attempt.phase('restore', () => context.creation.run(() => provider.restore(context.snapshot, { ...episodeSpec(id, context), resources: gpus.episode, onNetwork: (request) => attempt.network.record(request) }, { signal, lazily: true }), signal));
  let played = false;
  try {
    // Outside the limit of creations: how long a service takes is its own affair.
    // What a memory snapshot holds of them goes on running.
    const services = context.snapshot.kind === 'memory' ? [] : template.services;
    await attempt.phase('restore', () => startServices(sandbox, services, attempt.services, { signal, clean: (stream) => redactor.clean(stream) }));
    await attempt.phase('act', () => act(sandbox, id, context, attempt, redactor, signal));
    await attempt.phase('score', async () => {
      const at = Date.now();
      const start = performance.now();
      attempt.outcome = await computeReward(template, {
        ...id,
        sandbox,
        exitCode: attempt.exitCode,
        return: attempt.return,
        stdout: attempt.stdout,
        verifierOutput: attempt.verifier,
        secrets: context.secrets,
        environment: context.environment,
        clean: (stream) => redactor.clean(stream),
        openScoringSandbox: (component, limit) => context.openScoringSandbox(component, gpus.scoring(component), limit),
        signal,
      });
      const { reward, components, problem } = attempt.outcome;
      attempt.trace.write({
        type: 'reward',
        at,
        ms: round(performance.now() - start),
        reward,
        components: components.map(({ name, weight, value, detail, problem: why }) => ({ name, weight, value, detail: why?.message ?? detail })),
        problem,
        ...(attempt.verifier.total > 0 ? { output: attempt.trace.content(attempt.verifier.text()) } : {}),
      });
      if (template.artifacts.length === 0) return;
      await sandbox.killAll({ signal });
      const { count, cut } = await keepArtifacts(sandbox, template.artifacts, context.folder(id.episode).artifacts, redactor, signal);
      attempt.artifacts = count;
      if (cut === undefined) return;
      attempt.trace.note('warning', 'artifacts', cut);
      attempt.cause ??= `artifacts: ${cut}; those before are kept`;
    });
    played = true;
    return template.keepWarmMs === undefined ? undefined : sandbox;
  } finally {
    // One that broke is not worth a look, and is tried again in another.
    if (played && template.keepWarmMs !== undefined) context.keepWarm(sandbox, template.keepWarmMs);
    else await attempt.phase('terminate', () => discard(sandbox));
  }
}

async function act(sandbox: Sandbox, id: EpisodeId, context: EpisodeContext, attempt: Attempt, redactor: Redactor, signal: AbortSignal): Promise<void> {
  const { timeoutMs } = context;
  const { trace, stdout, stderr } = attempt;
  const stage = new Stage({ id, sandbox, trace, redactor, timeoutMs, output: { stdout, stderr }, signal });
  try {
    const { status, cause, exitCode } = await context.policy.act(stage).catch((error: unknown) => {
      if (error instanceof EpisodeLimit) return error.ending;
      throw error;
    });
    Object.assign(attempt, { status, cause: cause && redactor.text(cause), exitCode });
  } finally {
    stage.close();
    attempt.steps = stage.steps;
    attempt.return = stage.return;
  }
}

/** The trace's first line. */
function begin(attempt: Attempt, id: EpisodeId, { run, template, policy }: EpisodeContext): void {
  attempt.trace.write({
    type: 'start',
    version: 1,
    at: Date.now(),
    run: run.id,
    ...id,
    attempt: attempt.number,
    template: template.name,
    provider: run.provider,
    snapshot: run.snapshot?.id,
    policy: policy.description,
    tools: policy.tools,
  });
}

function episodeSpec(id: EpisodeId, { template, labels, secrets, timeoutMs }: EpisodeContext): SandboxSpec {
  const scoring = template.reward.reduce((sum, component) => sum + component.timeout, 0);
  // How long it stays may be changed while it does; the engine sees to that.
  const warm = template.keepWarmMs === undefined ? 0 : LONGEST_LIFE_MS;
  const services = template.services.reduce((sum, service) => sum + service.timeoutMs, 0);
  const lifetimeMs = timeoutMs + services + scoring + LONGEST_SLACK_MS + warm;
  return {
    labels: { ...labels, episode: id.episode, expires: Date.now() + lifetimeMs },
    ...settingsOf(template, secrets),
    lifetimeMs,
  };
}

/** Details and messages quote output of the sandbox, which may have read its secrets. */
function withoutSecrets(outcome: RewardOutcome, redactor: Redactor): RewardOutcome {
  if (redactor.isEmpty) return outcome;
  return JSON.parse(redactor.text(JSON.stringify(outcome))) as RewardOutcome;
}
