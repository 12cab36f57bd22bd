/** Who does again what a trace of one kind did. */
import type { Content, StartEvent, StepEvent } from '../../trace/events.js';
import { runCommand } from '../policies/command.js';
import { GymDriver } from '../policies/gym/driver.js';
import { resultOf, seen } from '../policies/gym/record.js';
import { TOOL_NAMES, callTool } from '../policies/llm/tools.js';
import { EpisodeLimit } from '../policies/policy.js';
import type { Stage, StepResult } from '../stage.js';
import type { Past } from './past.js';

/** What was recorded without a limit of its own. */
const COMMAND_TIMEOUT_MS = 10 * 60_000;
const OUTPUT_LIMIT = 16 * 1024;

export interface Actor {
  /** Of a policy whose whole episode was one command. */
  readonly exitCode?: number;
  take(step: StepEvent): Promise<{ readonly result: StepResult; readonly past: readonly Past[] }>;
  close(): Promise<void>;
}

type Load = (content: Content) => Promise<Content>;

export function actorFor(stage: Stage, start: StartEvent, load: Load): Actor {
  return start.policy.name === 'gym' ? gymActor(stage, start, load) : shellActor(stage, start, load);
}

function shellActor(stage: Stage, { policy }: StartEvent, load: Load): Actor {
  const whole = policy.name === 'script' || policy.name === 'oracle';
  const number = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise);
  const commandTimeoutMs = number(policy.commandTimeout, COMMAND_TIMEOUT_MS);
  const box = { stage, outputLimit: number(policy.outputLimit, OUTPUT_LIMIT), commandTimeoutMs };
  const actor = {
    exitCode: undefined as number | undefined,
    take: async ({ action }: StepEvent): ReturnType<Actor['take']> => {
      if (action.kind === 'command') {
        const { language } = action;
        const command = (await load(action.command)) as string;
        const ran = await runCommand(stage, command, language, commandTimeoutMs, whole ? stage.options.output : undefined);
        if (whole) actor.exitCode = ran.exitCode;
        const { text, ...gap } = ran.stdout.parts();
        const told = { stdout: text, ...gap, stderr: ran.stderr.text(), exitCode: ran.exitCode, timedOut: ran.timedOut };
        return { result: { observation: { kind: 'command', ...stage.result(ran) } }, past: [{ kind: 'command', command, language, result: told }] };
      }
      const past: Past[] = [];
      const result = await stage.step(action, async () => {
        if (action.kind !== 'calls') return { observation: { kind: 'none' } };
        const results = [];
        for (const { id, name, arguments: written } of action.calls) {
          const start = performance.now();
          const input = await load(written);
          const { files: _, done: __, stdout, ...rest } = await callTool(box, TOOL_NAMES, name, input);
          past.push({ kind: 'call', id, name, arguments: input, result: { stdout, ...rest } });
          results.push({ call: id, ms: Math.round(performance.now() - start), stdout: stage.trace.content(stdout), ...rest });
        }
        return { observation: results.length ? { kind: 'results', results } : { kind: 'none' } };
      });
      return { result, past };
    },
    close: () => Promise.resolve(),
  };
  return actor;
}

function gymActor(stage: Stage, { policy, seed }: StartEvent, load: Load): Actor {
  const driver = new GymDriver(stage);
  return {
    take: async ({ action, step }: StepEvent): ReturnType<Actor['take']> => {
      if (step === 0) {
        const spaces = await driver.make({ env: String(policy.env), kwargs: (policy.kwargs ?? {}) as Record<string, unknown>, render: typeof policy.render === 'string' ? policy.render : null, vector: 0, seed });
        return { result: await stage.step(action, async () => ({ ...seen(stage.trace, (await driver.reset(seed))[0]!), spaces }), 0), past: [] };
      }
      if (action.kind !== 'value') throw new EpisodeLimit('replay', `cannot take the action ${action.kind} in an environment`);
      const value = await load(action.value);
      return { result: await stage.step(action, async () => resultOf(stage, (await driver.step({ action: value }))[0]!)), past: [] };
    },
    close: async () => {
      if (!stage.signal.aborted) await driver.close();
    },
  };
}
