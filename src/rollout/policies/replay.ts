/** Takes the actions of a recorded trace again, and says at which step something else came of them first. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Action, Content, Observation, StartEvent, StepEvent } from '../../trace/events.js';
import { readStored } from '../../trace/native/blobs.js';
import { readEvents } from '../../trace/native/events.js';
import { TRACE_FILE, isBlob } from '../../trace/writer.js';
import type { Stage, StepResult } from '../stage.js';
import { runCommand } from './command.js';
import { GymDriver } from './gym/driver.js';
import { resultOf, seen } from './gym/record.js';
import { TOOL_NAMES, callTool } from './llm/tools.js';
import { PolicyFailed } from './player.js';
import { EpisodeLimit, type Ending, type PolicyKind } from './policy.js';

/** What was recorded without a limit of its own. */
const COMMAND_TIMEOUT_MS = 10 * 60_000;
const OUTPUT_LIMIT = 16 * 1024;

export const replay: PolicyKind = async ({ trace }) => {
  if (trace === undefined) throw new Error('the policy `replay` needs a trace: `rl-sandboxes replay RUN`, or `run TEMPLATE --policy replay --trace FILE`');
  const folder = await stat(trace).then((found) => found.isDirectory(), () => {
    throw new Error(`there is no trace ${trace}`);
  });
  return {
    description: { name: 'replay', trace },
    act: (stage) => act(stage, folder ? join(trace, 'episodes', String(stage.id.episode), TRACE_FILE) : trace),
  };
};

async function act(stage: Stage, file: string): Promise<Ending> {
  let actor: Actor | undefined;
  let first: string | undefined;
  try {
    for await (const event of readEvents(file)) {
      if (event.type === 'start') actor = actorFor(stage, event, file);
      if (event.type !== 'step') continue;
      if (!actor) break;
      if (event.lane !== undefined) throw new PolicyFailed('the trace is of a vector of environments, which cannot be replayed');
      const result = await actor.take(event);
      const difference = differenceOf(event, result);
      if (difference === undefined || first !== undefined) continue;
      first = `difference: at step ${event.step} ${difference}`;
      stage.trace.note('warning', 'difference', difference, event.step);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new PolicyFailed(`there is no trace ${file}`);
    throw error;
  } finally {
    await actor?.close();
  }
  if (!actor) throw new PolicyFailed(`${file} is no native trace: it has no \`start\``);
  return { status: 'completed', ...(first === undefined ? {} : { cause: first }), ...(actor.exitCode === undefined ? {} : { exitCode: actor.exitCode }) };
}

/** Does again what a trace of one kind did. */
interface Actor {
  /** Of a policy whose whole episode was one command. */
  readonly exitCode?: number;
  take(step: StepEvent): Promise<StepResult>;
  close(): Promise<void>;
}

function actorFor(stage: Stage, start: StartEvent, file: string): Actor {
  const load = (content: Content) => loadContent(content, file);
  if (start.policy.name === 'gym') return gymActor(stage, start, load);
  return shellActor(stage, start, load);
}

function shellActor(stage: Stage, { policy }: StartEvent, load: (content: Content) => Promise<Content>): Actor {
  const whole = policy.name === 'script' || policy.name === 'oracle';
  const number = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise);
  const commandTimeoutMs = number(policy.commandTimeout, COMMAND_TIMEOUT_MS);
  const box = { stage, outputLimit: number(policy.outputLimit, OUTPUT_LIMIT), commandTimeoutMs };
  const actor = {
    exitCode: undefined as number | undefined,
    take: async ({ action }: StepEvent): Promise<StepResult> => {
      if (action.kind === 'command') {
        const ran = await runCommand(stage, await load(action.command) as string, action.language, commandTimeoutMs, whole ? stage.options.output : undefined);
        if (whole) actor.exitCode = ran.exitCode;
        return { observation: { kind: 'command', ...stage.result(ran) } };
      }
      let result!: StepResult;
      await stage.step(action, async () => {
        if (action.kind !== 'calls') return (result = { observation: { kind: 'none' } });
        const results = [];
        for (const { id, name, arguments: input } of action.calls) {
          const start = performance.now();
          const { files: _, done: __, stdout, ...rest } = await callTool(box, TOOL_NAMES, name, await load(input));
          results.push({ call: id, ms: Math.round(performance.now() - start), stdout: stage.trace.content(stdout), ...rest });
        }
        return (result = { observation: results.length ? { kind: 'results', results } : { kind: 'none' } });
      });
      return result;
    },
    close: () => Promise.resolve(),
  };
  return actor;
}

function gymActor(stage: Stage, { policy, seed }: StartEvent, load: (content: Content) => Promise<Content>): Actor {
  const driver = new GymDriver(stage);
  return {
    take: async ({ action, step }: StepEvent): Promise<StepResult> => {
      let result!: StepResult;
      if (step === 0) {
        const spaces = await driver.make({ env: String(policy.env), kwargs: (policy.kwargs ?? {}) as Record<string, unknown>, render: typeof policy.render === 'string' ? policy.render : null, vector: 0, seed });
        await stage.step(action, async () => (result = { ...seen(stage.trace, (await driver.reset(seed))[0]!), spaces }), 0);
        return result;
      }
      if (action.kind !== 'value') throw new EpisodeLimit('replay', `cannot take the action ${action.kind} in an environment`);
      const value = await load(action.value);
      await stage.step(action, async () => (result = resultOf(stage, (await driver.step({ action: value }))[0]!)));
      return result;
    },
    close: async () => {
      if (!stage.signal.aborted) await driver.close();
    },
  };
}

/** A value that may have been too big for its line. */
async function loadContent(content: Content, file: string): Promise<Content> {
  if (!isBlob(content)) return content;
  const text = Buffer.from(await readStored(file, content.blob)).toString();
  return content.mediaType === 'application/json' ? (JSON.parse(text) as Content) : text;
}

/** What differs, in a few words; times do not count. */
function differenceOf(old: StepEvent, now: StepResult): string | undefined {
  const [before, after] = [comparable(old.observation), comparable(now.observation)];
  if (before.kind !== after.kind) return `the observation is ${after.kind}, and was ${before.kind}`;
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!isDeepStrictEqual(before[key], after[key])) return key === 'results' ? resultDifference(before[key] as Results, after[key] as Results) : `${NAMES[key] ?? key} is ${short(after[key])}, and was ${short(before[key])}`;
  }
  if ((now.reward ?? null) !== old.reward) return `the reward is ${now.reward}, and was ${old.reward}`;
  if (isValue(old.action) && ((now.terminated ?? false) !== old.terminated || (now.truncated ?? false) !== old.truncated)) return `it ${now.terminated ? 'terminates' : now.truncated ? 'truncates' : 'goes on'}, and did not`;
  return undefined;
}

const NAMES: Readonly<Record<string, string>> = { stdout: 'standard output', stderr: 'standard error', exitCode: 'the exit code', value: 'the observation' };
type Results = readonly Readonly<Record<string, unknown>>[];

const isValue = (action: Action): boolean => action.kind === 'value';

/** As it is on disk: without what is undefined. Times do not count. */
function comparable(observation: Observation): { readonly kind: string } & Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(observation, (key, value: unknown) => (key === 'ms' ? undefined : value))) as ReturnType<typeof comparable>;
}

function resultDifference(before: Results, after: Results): string {
  const index = after.findIndex((each, position) => !isDeepStrictEqual(each, before[position]));
  const [now, then] = [after[index] ?? {}, before[index] ?? {}];
  const key = Object.keys({ ...then, ...now }).find((name) => !isDeepStrictEqual(now[name], then[name])) ?? 'stdout';
  return `${NAMES[key] ?? key} of call ${index + 1} is ${short(now[key])}, and was ${short(then[key])}`;
}

function short(value: unknown): string {
  if (value === undefined) return 'none';
  const text = JSON.stringify(isBlob(value) ? (value.head ?? value.blob) : value);
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
