import { join } from 'node:path';
import type { Command } from 'commander';
import { columns, milliseconds, plural, reward, NONE } from '../format.js';
import { oneLine, plain } from '../plain.js';
import { rewardValue, wholeNumberFrom0 } from '../options.js';
import { runObject, runReport } from '../runReport.js';
import { Session, type CommonOptions } from '../session.js';

export function addRuns(program: Command): void {
  program
    .command('list')
    .description('runs, newest first')
    .action((_options: unknown, command: Command) =>
      Session.run(command.optsWithGlobals<CommonOptions>(), async (session) => {
        const runs = await session.engine.list();
        session.result({ runs }, () => {
          if (runs.length === 0) return `no runs in ${session.engine.layout.base}`;
          const rows = runs.map(({ run, finished: count, mean, ci95, errors }) => [
            `#${run.number}`,
            run.template,
            run.state,
            `${count}/${run.total}`,
            mean === null ? NONE : `${reward(mean, 3)} ± ${reward(ci95, 3)}`,
            errors ? plural(errors, 'error') : '',
            run.provider,
            new Date(run.createdAt).toISOString().slice(0, 16).replace('T', ' '),
            run.id,
          ]);
          return columns([['#', 'template', 'state', 'episodes', 'mean', '', 'provider', 'began (UTC)', 'id'], ...rows]);
        });
      }),
    );

  program
    .command('show <run>')
    .description('one run, or one of its episodes; <run> is an id, its start, a number, or "latest"')
    .option('-e, --episode <n>', 'one episode, with its output', wholeNumberFrom0)
    .option('--solved-from <reward>', 'pass@k counts an episode with at least this reward as solved (1)', rewardValue)
    .action((name: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { episode?: number; solvedFrom?: number }>();
      return Session.run(options, async (session) => {
        const { engine } = session;
        const run = await engine.runs.find(name);
        if (options.episode !== undefined) return showEpisode(session, run.id, options.episode);
        const { solvedFrom } = options;
        const snapshot = { ...(await engine.snapshot(run.id)), ...(solvedFrom !== undefined && (await engine.reader(run.id)).seedFigures(solvedFrom)) };
        const directory = engine.layout.run(run.id);
        session.result(runObject(snapshot, directory), () => runReport(snapshot, directory));
      });
    });
}

async function showEpisode(session: Session, run: string, episode: number): Promise<void> {
  const detail = await session.engine.episode(run, episode);
  const { record } = detail;
  session.result({ ...detail, directory: session.engine.layout.episode(run, episode) }, () => {
    const { restore, act, score, terminate } = record.timings;
    const components = record.components.map(({ name, value, weight, problem, detail: why }) => `  ${oneLine(name)}  ${reward(value)} x ${weight}  ${oneLine(problem?.message ?? why ?? '')}`.trimEnd());
    const sections = (['stdout', 'stderr', 'verifier'] as const).flatMap((name) => {
      const output = detail[name];
      if (!output?.text && !output?.dropped) return [];
      return [`--- ${name}${output.dropped ? ` (last part; ${output.dropped} bytes before are in ${join(session.engine.layout.episode(run, episode), `${name}.log`)})` : ''}`, plain(output.text).trimEnd()];
    });
    return [
      columns([
        ['episode', `${record.episode}  seed ${record.seed}  sample ${record.sample}`],
        ['status', `${record.status}${record.cause ? `  ${oneLine(record.cause)}` : ''}`],
        ['reward', reward(record.reward)],
        ['time', `restore ${milliseconds(restore)}   act ${milliseconds(act)}   score ${milliseconds(score)}   tear down ${milliseconds(terminate)}   ${plural(record.attempts, 'attempt')}`],
      ]),
      ...components,
      ...(detail.artifacts.length ? ['artifacts', ...detail.artifacts.map(({ path, size }) => `  ${oneLine(path)}  ${size} bytes`)] : []),
      ...sections,
    ].join('\n');
  });
}
