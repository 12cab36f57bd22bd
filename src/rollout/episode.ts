/**
 * One episode: restore, act, score, terminate. Infrastructure errors are retried and are never a reward; whatever happens, the
 * sandbox is torn down before the episode counts as finished.
 */
import { ExecTimeout, ProviderUnavailable, SandboxError } from '../sandbox/errors.js';
import type { Provider, ProviderSnapshot, Sandbox, SandboxLabels, SandboxSpec } from '../sandbox/provider.js';
import type { EpisodeRecord, EpisodeStatus, EpisodeTimings, RewardOutcome } from '../store/records.js';
import type { Template, RewardComponentSpec } from '../template/template.js';
import { keepArtifacts } from './artifacts.js';
import type { Limiter } from './limiter.js';
import { OutputCapture, consume } from './output.js';
import { MAX_ATTEMPTS, backOff } from './retry.js';
import { computeReward } from './rewards/index.js';
import { Redactor } from './secrets.js';
import { discard } from './teardown.js';

/** Room for what surrounds the commands: transfers, starts, a slow machine. */
const LIFETIME_SLACK_MS = 10 * 60_000;
/** Life of a sandbox that is kept until somebody ends it. */
const LONGEST_LIFE_MS = 7 * 24 * 3_600_000;

/** What all episodes of a run share. */
export interface EpisodeContext {
  readonly template: Template;
  readonly provider: Provider;
  readonly snapshot: ProviderSnapshot;
  readonly labels: Omit<SandboxLabels, 'expires' | 'episode'>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Of whoever asked for the run, for programs of this machine. */
  readonly environment: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  /** How many sandboxes are created at once, apart from how many episodes run. */
  readonly creation: Limiter;
  readonly openScoringSandbox: (component: Extract<RewardComponentSpec, { type: 'sandbox' }>, signal: AbortSignal) => Promise<Sandbox>;
  /** Takes over a sandbox that the template keeps after its episode. */
  readonly keepWarm: (sandbox: Sandbox, milliseconds: number) => void;
  /** Folder for what the episode leaves: output and artifacts. */
  readonly folder: (episode: number) => EpisodeFolder;
}

/** Where an episode's output and artifacts go. */
export interface EpisodeFolder {
  /** Writes the outputs that are not empty. */
  writeOutput(outputs: Readonly<Record<'stdout' | 'stderr' | 'verifier', OutputCapture>>): Promise<void>;
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
  readonly time = { restore: 0, act: 0, score: 0, terminate: 0 };
  status: EpisodeStatus = 'completed';
  cause: string | undefined;
  exitCode: number | undefined;
  steps = 0;
  artifacts = 0;
  outcome: RewardOutcome = { reward: null, components: [] };

  /** Runs one phase and books its time, also when it throws. */
  async phase<T>(name: keyof Attempt['time'], work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.time[name] = round(performance.now() - start);
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
  const redactor = new Redactor(context.secrets);
  let attempt = new Attempt();
  let attempts = 0;
  for (;;) {
    attempts += 1;
    try {
      await play(id, context, attempt, redactor, signal);
      break;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SandboxError)) throw error;
      if (attempts === MAX_ATTEMPTS || !error.retryable) {
        if (error instanceof ProviderUnavailable) throw error;
        attempt.status = 'error';
        attempt.cause = `${error.code}: ${redactor.text(error.message)}`;
        attempt.outcome = { reward: null, components: [], problem: { code: 'infrastructure', message: redactor.text(error.message) } };
        break;
      }
      await backOff(attempts + 1, signal);
      attempt = new Attempt();
    }
  }
  const { stdout, stderr, verifier, time, outcome } = attempt;
  await context.folder(id.episode).writeOutput({ stdout, stderr, verifier });
  const timings: EpisodeTimings = { ...time, total: round(performance.now() - start) };
  const problem = outcome.problem && `${outcome.problem.code}: ${redactor.text(outcome.problem.message)}`;
  return {
    ...id,
    status: attempt.status,
    ...withoutSecrets(outcome, redactor),
    cause: attempt.cause ?? problem,
    exitCode: attempt.exitCode,
    steps: attempt.steps,
    attempts,
    startedAt,
    timings,
    output: { stdout: stdout.total, stderr: stderr.total, dropped: stdout.dropped + stderr.dropped },
    artifacts: attempt.artifacts,
  };
}

async function play(id: EpisodeId, context: EpisodeContext, attempt: Attempt, redactor: Redactor, signal: AbortSignal): Promise<void> {
  const { template, provider } = context;
  const sandbox = await attempt.phase('restore', () => context.creation.run(() => provider.restore(context.snapshot, episodeSpec(id, context), { signal }), signal));
  let played = false;
  try {
    await attempt.phase('act', () => act(sandbox, id, context, attempt, redactor, signal));
    await attempt.phase('score', async () => {
      attempt.outcome = await computeReward(template, {
        ...id,
        sandbox,
        exitCode: attempt.exitCode,
        stdout: attempt.stdout,
        verifierOutput: attempt.verifier,
        secrets: context.secrets,
        environment: context.environment,
        clean: (stream) => redactor.clean(stream),
        openScoringSandbox: context.openScoringSandbox,
        signal,
      });
      if (template.artifacts.length === 0) return;
      await sandbox.killAll({ signal });
      attempt.artifacts = await keepArtifacts(sandbox, template.artifacts, context.folder(id.episode).artifacts, context.secrets, signal);
    });
    played = true;
  } finally {
    // One that broke is not worth a look, and is tried again in another.
    if (played && template.keepWarmMs !== undefined) context.keepWarm(sandbox, template.keepWarmMs);
    else await attempt.phase('terminate', () => discard(sandbox));
  }
}

/** The script policy: the whole episode is one command, and its output is the one step. */
async function act(sandbox: Sandbox, id: EpisodeId, context: EpisodeContext, attempt: Attempt, redactor: Redactor, signal: AbortSignal): Promise<void> {
  const { run, python } = context.template.episode;
  const argv = run !== undefined ? ['sh', '-c', run] : ['python3', '-c', python!];
  const env = { RL_SEED: String(id.seed), RL_SAMPLE: String(id.sample), RL_EPISODE: String(id.episode) };
  const child = sandbox.exec(argv, { env, timeoutMs: context.timeoutMs, signal });
  const drained = Promise.all([consume(redactor.clean(child.stdout), attempt.stdout), consume(redactor.clean(child.stderr), attempt.stderr)]);
  // Whichever way it ends, neither promise may be left without a handler.
  drained.catch(() => undefined);
  attempt.steps = 1;
  try {
    const { code, killedBy } = await child.exit;
    await drained;
    attempt.exitCode = code;
    if (killedBy) truncate(attempt, killedBy, `killed for using more than its ${killedBy} limit`);
  } catch (error) {
    if (!(error instanceof ExecTimeout)) throw error;
    await drained.catch(() => undefined);
    truncate(attempt, 'timeout', `ran longer than ${context.timeoutMs / 1000} s`);
  }
}

function truncate(attempt: Attempt, code: string, sentence: string): void {
  attempt.status = 'truncated';
  attempt.cause = `${code}: the episode ${sentence}`;
}

function episodeSpec(id: EpisodeId, { template, labels, secrets, timeoutMs }: EpisodeContext): SandboxSpec {
  const scoring = template.reward.reduce((sum, component) => sum + component.timeout, 0);
  const warm = template.keepWarmMs === undefined ? 0 : template.keepWarmMs < 0 ? LONGEST_LIFE_MS : template.keepWarmMs;
  const lifetimeMs = timeoutMs + scoring + LIFETIME_SLACK_MS + warm;
  return {
    labels: { ...labels, episode: id.episode, expires: Date.now() + lifetimeMs },
    resources: template.resources,
    env: { ...template.env, ...secrets },
    network: template.network.episode,
    lifetimeMs,
  };
}

/** Details and messages quote output of the sandbox, which may have read its secrets. */
function withoutSecrets(outcome: RewardOutcome, redactor: Redactor): RewardOutcome {
  if (redactor.isEmpty) return outcome;
  return JSON.parse(redactor.text(JSON.stringify(outcome))) as RewardOutcome;
}
