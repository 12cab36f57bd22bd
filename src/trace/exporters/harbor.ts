/** Harbor's job folder around ATIF documents: one trial for each episode. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { trialResult, type TrialResult } from './atifSchema.js';

/** What is known of an episode besides its trace. Times are milliseconds since the epoch. */
export interface Trial {
  readonly run: string;
  readonly task: string;
  readonly episode: number;
  readonly agent: string;
  readonly version: string;
  readonly model?: string;
  readonly startedAt: number;
  readonly timings: { readonly restore: number; readonly act: number; readonly score: number; readonly total: number };
  readonly reward: number | null;
  readonly components: readonly { readonly name: string; readonly value: number | null }[];
  /** `<code>: <sentence>` of an episode that did not come to its end. */
  readonly failure?: { readonly code: string; readonly message: string };
  readonly tokens?: { readonly prompt?: number; readonly completion?: number; readonly cached?: number };
  readonly cost?: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** `<task>__<7 characters>`, the same for the same episode. */
export const trialName = ({ task, episode }: Pick<Trial, 'task' | 'episode'>): string => `${task.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 60)}__e${episode.toString(36).padStart(6, '0')}`;

/** A UUID that the same words always give. */
function uuidOf(...words: readonly (string | number)[]): string {
  const hex = createHash('sha256').update(words.join('\0')).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const iso = (at: number): string => new Date(at).toISOString();

/** Writes a trial's `result.json` and its reward file; a reward that is not known is in neither. */
export async function writeTrial(folder: string, trial: Trial): Promise<TrialResult> {
  const { startedAt, timings } = trial;
  let at = startedAt;
  const span = (ms: number): { started_at: string; finished_at: string } => ({ started_at: iso(at), finished_at: iso((at += ms)) });
  const known = trial.components.filter((component): component is { name: string; value: number } => component.value !== null && component.name !== 'reward');
  const rewards = trial.reward === null ? undefined : { reward: trial.reward, ...Object.fromEntries(known.length > 1 ? known.map(({ name, value }) => [name, value]) : []) };
  const name = trialName(trial);
  const result = trialResult.parse({
    id: uuidOf(trial.run, trial.episode),
    task_name: trial.task,
    trial_name: name,
    trial_uri: `rl-sandboxes:${encodeURIComponent(trial.run)}/${trial.episode}`,
    task_id: { path: trial.task },
    source: null,
    task_checksum: '',
    config: { trial_name: name, task: { path: trial.task }, agent: { name: trial.agent, model_name: trial.model ?? null } },
    agent_info: { name: trial.agent, version: trial.version, model_info: trial.model === undefined ? null : { name: trial.model, provider: 'unknown' } },
    agent_result: { n_input_tokens: trial.tokens?.prompt ?? null, n_cache_tokens: trial.tokens?.cached ?? null, n_output_tokens: trial.tokens?.completion ?? null, cost_usd: trial.cost ?? null, rollout_details: null, metadata: trial.metadata },
    verifier_result: rewards ? { rewards } : null,
    exception_info: trial.failure ? { exception_type: trial.failure.code === 'timed-out' || trial.failure.code === 'timeout' ? 'AgentTimeoutError' : trial.failure.code, exception_message: trial.failure.message, exception_traceback: '', occurred_at: iso(startedAt + timings.total) } : null,
    started_at: iso(startedAt),
    finished_at: iso(startedAt + timings.total),
    environment_setup: span(timings.restore),
    agent_setup: null,
    agent_execution: span(timings.act),
    verifier: span(timings.score),
    step_results: null,
  } satisfies TrialResult);
  await mkdir(join(folder, name, 'agent'), { recursive: true });
  await writeFile(join(folder, name, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
  if (rewards) {
    await mkdir(join(folder, name, 'verifier'), { recursive: true });
    await writeFile(join(folder, name, 'verifier', 'reward.json'), `${JSON.stringify(rewards)}\n`);
  }
  return result;
}

/** The job's own `config.json` and `result.json`, with the figures that Harbor keeps of each agent. */
export class JobSummary {
  private trials = 0;
  private errors = 0;
  private readonly rewards = new Map<string, string[]>();
  private readonly exceptions = new Map<string, string[]>();
  private began = Infinity;
  private ended = -Infinity;

  constructor(private readonly job: { readonly id: string; readonly name: string; readonly agent: string; readonly model?: string; readonly dataset: string; readonly samples: number; readonly concurrency: number }) {}

  add({ trial_name: name, verifier_result: verified, exception_info: exception, started_at: began, finished_at: ended }: TrialResult): void {
    this.trials += 1;
    this.began = Math.min(this.began, Date.parse(began));
    this.ended = Math.max(this.ended, Date.parse(ended));
    if (verified) this.rewards.set(String(verified.rewards.reward), [...(this.rewards.get(String(verified.rewards.reward)) ?? []), name]);
    if (!exception) return;
    this.errors += 1;
    this.exceptions.set(exception.exception_type, [...(this.exceptions.get(exception.exception_type) ?? []), name]);
  }

  async write(folder: string): Promise<void> {
    const { id, name, agent, model, dataset, samples, concurrency } = this.job;
    const [began, ended] = this.trials ? [iso(this.began), iso(this.ended)] : [null, null];
    const evaluation = { n_trials: this.trials, n_errors: this.errors, metrics: [], pass_at_k: {}, reward_stats: { reward: Object.fromEntries(this.rewards) }, exception_stats: Object.fromEntries(this.exceptions) };
    const result = {
      id: uuidOf(id),
      started_at: began,
      updated_at: ended,
      finished_at: ended,
      n_total_trials: this.trials,
      stats: { n_completed_trials: this.trials, n_errored_trials: this.errors, n_running_trials: 0, n_pending_trials: 0, n_cancelled_trials: 0, n_retries: 0, evals: { [[agent, model, dataset].filter(Boolean).join('__')]: evaluation } },
    };
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
    await writeFile(join(folder, 'config.json'), `${JSON.stringify({ job_name: name, n_attempts: samples, n_concurrent_trials: concurrency, agents: [{ name: agent, model_name: model ?? null }], tasks: [{ path: dataset }] }, null, 2)}\n`);
  }
}
