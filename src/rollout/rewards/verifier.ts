/** Runs a verifier: a command in the sandbox, after the episode's processes are dead. */
import { ExecTimeout } from '../../sandbox/errors.js';
import type { Sandbox } from '../../sandbox/provider.js';
import { OutputCapture, consume } from '../output.js';
import { fail, quote } from './failure.js';
import type { RewardContext } from './kind.js';

/** How the verifier of a kind is prepared. */
interface Preparation {
  /** Files that the reward is read from, removed first: the episode can have written them. */
  readonly stale?: readonly string[];
  /** A folder that the verifier writes to, created for it. */
  readonly directory?: string;
}

interface Command {
  readonly run?: string;
  readonly python?: string;
  readonly timeout: number;
}

/** What a verifier that ended left. */
export interface Verdict {
  readonly code: number;
  readonly stdout: OutputCapture;
  /** ` and its last line is "..."`, or nothing. */
  readonly lastWords: string;
}

/** Whether a component has a verifier that runs in the episode's own sandbox. */
export const hasVerifier = (spec: { readonly type: string; readonly run?: string; readonly python?: string }): boolean =>
  spec.type !== 'sandbox' && (spec.run !== undefined || spec.python !== undefined);

/** Of the episode, for whoever scores it. */
export const episodeEnvironment = ({ seed, sample, episode, exitCode }: RewardContext): Record<string, string> => ({
  RL_SEED: String(seed),
  RL_SAMPLE: String(sample),
  RL_EPISODE: String(episode),
  ...(exitCode === undefined ? {} : { RL_EXIT_CODE: String(exitCode) }),
});

/**
 * Runs the component's verifier in the episode's sandbox, if it has one. What the verifier started is dead when this resolves, as it may
 * have run the episode's code.
 */
export async function verify(spec: Command & { readonly type: string }, context: RewardContext, preparation: Preparation = {}): Promise<Verdict | undefined> {
  if (!hasVerifier(spec)) return undefined;
  const { sandbox, signal } = context;
  for (const path of preparation.stale ?? []) await sandbox.files.remove(path, { signal });
  const verdict = await runVerifier(sandbox, spec, context, { directory: preparation.directory });
  await sandbox.killAll({ signal });
  return verdict;
}

/** As `verify`, for kinds whose verifier must succeed: throws `RewardFailure` (verifier-failed) for any other exit code than 0. */
export async function verifyOrFail(spec: Command & { readonly type: string }, context: RewardContext, preparation: Preparation = {}): Promise<Verdict | undefined> {
  const verdict = await verify(spec, context, preparation);
  if (verdict) requireSuccess(verdict);
  return verdict;
}

export function requireSuccess({ code, lastWords }: Verdict): void {
  if (code !== 0) fail('verifier-failed', `the verifier ended with exit code ${code}${lastWords}`);
}

/** Runs a command that scores, in whichever sandbox. Throws `RewardFailure`: timed-out, or verifier-failed if a limit killed it. */
export async function runVerifier(sandbox: Sandbox, { run, python, timeout }: Command, context: RewardContext, { env, directory }: { env?: Record<string, string>; directory?: string } = {}): Promise<Verdict> {
  const command = run !== undefined ? ['sh', '-e', '-c', run] : ['python3', '-c', python!];
  // Where the folder cannot be made the verifier says so better than we could.
  const argv = directory === undefined ? command : ['sh', '-c', 'mkdir -p -- "$0"; exec "$@"', directory, ...command];
  const [stdout, stderr] = [new OutputCapture(), new OutputCapture()];
  const child = sandbox.exec(argv, { env: { ...episodeEnvironment(context), ...env }, timeoutMs: timeout, signal: context.signal });
  const drained = Promise.all([
    consume(context.clean(child.stdout), stdout, context.verifierOutput),
    consume(context.clean(child.stderr), stderr, context.verifierOutput),
  ]);
  // If `exit` rejects, this may, too, and nobody would be listening.
  drained.catch(() => undefined);
  try {
    const { code, killedBy } = await child.exit;
    await drained;
    const lastWords = lastWordsOf(stderr) || lastWordsOf(stdout);
    if (killedBy) fail('verifier-failed', `the verifier was killed for using more than its ${killedBy} limit${lastWords}`);
    return { code, stdout, lastWords };
  } catch (error) {
    if (!(error instanceof ExecTimeout)) throw error;
    await drained.catch(() => undefined);
    fail('timed-out', `the verifier did not end within ${timeout / 1000} s and was killed`);
  }
}

export function lastWordsOf(output: OutputCapture): string {
  const line = output.lastLine();
  return line ? `; its last line is ${quote(line.text.trim())}` : '';
}
