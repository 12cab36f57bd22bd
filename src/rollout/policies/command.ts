import type { Action } from '../../trace/events.js';
import type { OutputCapture } from '../output.js';
import type { Past } from '../retrace/past.js';
import type { Ran, Stage } from '../stage.js';
import { PolicyFailed, openPlayer } from './player.js';
import { EpisodeLimit, settingsOf, type PolicyKind } from './policy.js';

/** The user's own program: it is told what a command printed, and answers with the next command. */
export const command: PolicyKind = (request) => {
  const settings = settingsOf(request.template, 'command');
  const player = openPlayer(settings, request);
  return {
    description: { name: 'command', command: settings.command, per: settings.per, commandTimeout: settings.command_timeout },
    close: () => player.close(),
    act: async (stage) => {
      const seat = await player.sit({ id: stage.id, signal: stage.signal });
      try {
        let answer = await seat.act(stage.past.length ? { history: stage.past.flatMap(remembered) } : {});
        for (let step = 1; ; step++) {
          if (answer === undefined) return { status: 'completed' };
          if (step > settings.max_steps) throw new EpisodeLimit('max_steps', `took ${settings.max_steps} steps and did not end`);
          const [script, language] = commandIn(answer);
          const ran = await runCommand(stage, script, language, settings.command_timeout);
          answer = await seat.act({ observation: observed(ran) });
        }
      } finally {
        await seat.leave();
      }
    },
  };
};

/** Runs a command of an agent as one step. */
export async function runCommand(stage: Stage, script: string, language: 'sh' | 'python', timeoutMs: number, into?: { stdout: OutputCapture; stderr: OutputCapture }): Promise<Ran> {
  const action: Action = { kind: 'command', command: stage.trace.content(script), language };
  let ran!: Ran;
  await stage.step(action, async () => {
    ran = await stage.run(language === 'sh' ? ['sh', '-c', script] : ['python3', '-c', script], { timeoutMs, into });
    const error = ran.timedOut ? `it did not end within ${timeoutMs / 1000} s and was killed` : ran.killedBy ? `it was killed for using more than its ${ran.killedBy} limit` : undefined;
    return { observation: { kind: 'command', ...stage.result(ran) }, ...(error === undefined ? {} : { error }) };
  });
  return ran;
}

/** What a program is told of what was done before it came, as if it had done so itself; a call of a tool that is no command by its name. */
function remembered(past: Past): object[] {
  if (past.kind !== 'command' && past.kind !== 'call') return [];
  const { stdout, stderr = '', exitCode, timedOut = false, dropped, error } = past.result;
  const observation = { stdout, stderr, exit_code: exitCode ?? null, timed_out: timedOut, ...(dropped ? { dropped } : {}), ...(error === undefined ? {} : { error }) };
  const action = past.kind === 'call' ? { tool: past.name, arguments: past.arguments } : past.language === 'sh' ? past.command : { python: past.command };
  return [{ action, observation }];
}

/** What a program is told of a command: as much as the trace holds. */
function observed({ stdout, stderr, exitCode, timedOut }: Ran): object {
  const { text, dropped } = stdout.parts();
  return { stdout: text, stderr: stderr.text(), exit_code: exitCode ?? null, timed_out: timedOut ?? false, ...(dropped ? { dropped } : {}) };
}

function commandIn(answer: unknown): [script: string, language: 'sh' | 'python'] {
  if (typeof answer === 'string') return [answer, 'sh'];
  const { run, python } = (answer ?? {}) as { readonly run?: unknown; readonly python?: unknown };
  if (typeof run === 'string') return [run, 'sh'];
  if (typeof python === 'string') return [python, 'python'];
  throw new PolicyFailed(`the policy wrote the action ${JSON.stringify(answer).slice(0, 100)}: expected a command, {"run": ...} or {"python": ...}`);
}
