/** Live sandboxes of the engine that the editor's windows share: they outlive the command, and the editor shows them. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { listSandboxes } from '../../engine/sandboxes/list.js';
import type { SandboxReport } from '../../engine/sandboxReports.js';
import { parseDuration } from '../../template/units.js';
import { UsageError } from '../failure.js';
import { columns, milliseconds, NONE } from '../format.js';
import { oneLine } from '../plain.js';
import { askRunner } from '../runnerConnection.js';
import { Session, type CommonOptions } from '../session.js';
import { isTemplate } from './sandboxes.js';

interface OpenOptions extends CommonOptions {
  readonly provider?: string;
  readonly keep?: string;
}

const UNTIL_ENDED = 'ended';

export function addLive(program: Command): void {
  const sandbox = program.command('sandbox').description('live sandboxes of the engine that the editor\'s windows share, which outlive the command');

  const on = (name: string, description: string, ask: (session: Session, id: string) => Promise<SandboxReport | null | undefined>): Command =>
    sandbox
      .command(`${name} <id>`)
      .description(description)
      .action((id: string, _options: unknown, command: Command) =>
        Session.run(command.optsWithGlobals<CommonOptions>(), async (session) => {
          const report = await ask(session, id);
          if (report === undefined) throw new Error(`no engine runs that could have the sandbox ${id}; \`runner start\` starts one`);
          session.result(report === null ? { id } : { sandbox: report }, () => (report === null ? `ended ${id}` : line(report).join('  ')));
        }),
      );

  sandbox
    .command('list')
    .description('all of this folder, whoever made them')
    .action((_options: unknown, command: Command) =>
      Session.run(command.optsWithGlobals<CommonOptions>(), async (session) => {
        const root = session.engine.layout.root;
        const sandboxes = (await askRunner(session, false, (runner, options) => runner.request('sandbox/list', { root }, options))) ?? (await listSandboxes(session.engine));
        session.result({ sandboxes }, () => (sandboxes.length === 0 ? 'no sandboxes' : columns([['id', 'template', 'provider', 'state', 'age', 'ends in', 'made'], ...sandboxes.map(line)])));
      }),
    );

  sandbox
    .command('open <template>')
    .description('one of a template (built if needed), or of a snapshot, whose processes go on if it is one of memory')
    .option('--keep <duration>', `how long it stays: an hour unless told, such as 20m, or \`${UNTIL_ENDED}\` for until somebody ends it`)
    .option('--provider <id>', 'bubblewrap, docker, podman, or auto')
    .action((what: string, _options: unknown, command: Command) => {
      const { keep, provider, ...options } = command.optsWithGlobals<OpenOptions>();
      return Session.run(options, async (session) => {
        const keepMs = keep === UNTIL_ENDED ? -1 : keep === undefined ? undefined : parseDuration(keep);
        if (keep !== undefined && keepMs === undefined) throw new UsageError(`--keep ${keep}: expected a duration such as \`20m\`, or \`${UNTIL_ENDED}\``);
        const root = session.engine.layout.root;
        const of = isTemplate(what) ? { file: resolve(what), provider } : { snapshot: what };
        const report = await askRunner(session, true, (runner, at) => runner.request('sandbox/open', { root, ...of, keepMs }, at));
        session.result({ sandbox: report }, () => report!.id);
      });
    });

  on('suspend', 'puts the processes of one on disk, where they use no processor and no memory', (session, id) => askRunner(session, false, (runner, at) => runner.request('sandbox/suspend', { root: session.engine.layout.root, id }, at)));
  on('resume', 'has the processes of a suspended one go on', (session, id) => askRunner(session, false, (runner, at) => runner.request('sandbox/resume', { root: session.engine.layout.root, id }, at)));
  on('end', 'ends one', (session, id) =>
    askRunner(session, false, async (runner, at) => {
      const root = session.engine.layout.root;
      const found = (await runner.request('sandbox/list', { root }, at)).find((each) => each.id === id);
      if (!found) throw new Error(`there is no sandbox ${oneLine(id, 80)}`);
      return runner.request('sandbox/terminate', { root, id, provider: found.provider }, at);
    }));
}

const line = ({ id, provider, labels, state, origin, orphan, ageMs, remainingMs }: SandboxReport): string[] => [
  id,
  oneLine(labels.template ?? NONE, 40),
  provider,
  orphan ? 'orphan' : state,
  milliseconds(ageMs),
  remainingMs === undefined || remainingMs === null ? NONE : milliseconds(remainingMs),
  origin,
];
