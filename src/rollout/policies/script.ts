/** Policies whose whole episode is one command: its output is the one step. */
import type { Stage } from '../stage.js';
import { EpisodeLimit, type Ending, type Policy, type PolicyKind } from './policy.js';

export interface Script {
  readonly run?: string;
  readonly python?: string;
}

/** What the template says that an episode does. */
export const script: PolicyKind = ({ template }) => {
  if (template.episode.run === undefined && template.episode.python === undefined) throw new Error(`${template.file} has no script: the policy \`script\` needs \`run\` or \`python\` under \`episode\``);
  return oneCommand('script', template.episode);
};

/** The template's reference solution. */
export const oracle: PolicyKind = ({ template }) => {
  if (!template.solution) throw new Error(`${template.file} has no reference solution: the policy \`oracle\` needs \`run\` or \`python\` under \`solution\``);
  return oneCommand('oracle', template.solution);
};

function oneCommand(name: string, { run, python }: Script): Policy {
  const argv = run !== undefined ? ['sh', '-c', run] : ['python3', '-c', python!];
  return { description: { name }, act: (stage) => act(stage, argv, { kind: 'command', command: (run ?? python)!, language: run !== undefined ? 'sh' : 'python' }) };
}

async function act(stage: Stage, argv: readonly string[], action: { kind: 'command'; command: string; language: 'sh' | 'python' }): Promise<Ending> {
  const { output } = stage.options;
  let ending: Ending | undefined;
  await stage.step({ ...action, command: stage.trace.content(action.command) }, async () => {
    const ran = await stage.run(argv, { into: output }).catch((error: unknown) => {
      if (!(error instanceof EpisodeLimit)) throw error;
      ending = error.ending;
      return { ...output, exitCode: undefined, killedBy: undefined };
    });
    if (ran.killedBy) ending = { ...new EpisodeLimit(ran.killedBy, `was killed for using more than its ${ran.killedBy} limit`).ending, exitCode: ran.exitCode };
    ending ??= { status: 'completed', exitCode: ran.exitCode };
    return {
      observation: { kind: 'command', ...stage.result(ran) },
      ...(ending.status === 'truncated' ? { truncated: true, error: ending.cause!.split(':', 1)[0] } : { terminated: true }),
    };
  });
  return ending!;
}
