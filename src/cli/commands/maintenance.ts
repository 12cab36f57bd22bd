import type { Command } from 'commander';
import { doctor } from '../../engine/doctor.js';
import { prune } from '../../engine/prune.js';
import { PROVIDERS } from '../../sandbox/registry.js';
import { providerProblems } from '../../template/capabilities.js';
import { findDuplicateNames, readTemplate } from '../../template/load.js';
import { formatProblem, type Problem } from '../../template/template.js';
import { parseDuration } from '../../template/units.js';
import { EXIT, UsageError } from '../failure.js';
import { bytes, columns, plural } from '../format.js';
import { Session, type CommonOptions } from '../session.js';

export function addMaintenance(program: Command): void {
  program
    .command('validate <templates...>')
    .description('every problem of the template files, as file:line:column')
    .action((files: string[], _options: unknown, command: Command) =>
      Session.run(command.optsWithGlobals<CommonOptions>(), async (session) => {
        const problems: Problem[] = [];
        const named: { file: string; name: string }[] = [];
        for (const file of files) {
          const parsed = await readTemplate(file);
          problems.push(...[...parsed.problems, ...providerProblems(parsed, PROVIDERS)].sort((a, b) => a.line - b.line || a.column - b.column));
          if (parsed.template) named.push(parsed.template);
        }
        problems.push(...findDuplicateNames(named));
        session.result({ files: files.length, problems }, () => [...problems.map(formatProblem), problems.length ? plural(problems.length, 'problem') : `${plural(files.length, 'template')} valid`].join('\n'));
        return problems.some((problem) => problem.severity === 'error') ? EXIT.failed : EXIT.done;
      }),
    );

  program
    .command('doctor')
    .description('which providers answer, which one is taken and why, and what is missing')
    .option('--provider <id>', 'the one that you would ask for')
    .action((_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { provider?: string }>();
      return Session.run(options, async (session) => {
        const report = await doctor(session.engine, options.provider, session.signal);
        session.result(report, () => {
          const lines = [`RL Sandboxes ${report.version}   Node ${report.node}   ${report.platform}`, ''];
          for (const { title, ok, summary, hint, limits, details } of report.providers) {
            lines.push(`${ok ? 'ok ' : 'no '} ${title}: ${summary}`);
            if (hint) lines.push(`      ${hint}`);
            if (limits) lines.push(`      limits: ${Object.entries(limits).map(([what, how]) => `${what} ${how}`).join(', ')}`);
            for (const [label, text] of Object.entries(details ?? {})) lines.push(`      ${label}: ${text}`);
          }
          lines.push('', report.chosen ? `auto takes ${report.chosen.id}: ${report.chosen.why}.` : options.provider && options.provider !== 'auto' ? `${options.provider}, which was asked for, cannot be used.` : 'No provider can be used.');
          return lines.join('\n');
        });
        return report.chosen ? EXIT.done : EXIT.unavailable;
      });
    });

  program
    .command('prune')
    .description('end sandboxes that a dead process left, remove snapshots that nothing would use')
    .option('--all-snapshots', 'every snapshot')
    .option('--runs-older-than <duration>', 'runs too, such as 720h')
    .option('--dry-run', 'say what would go, remove nothing')
    .action((_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { allSnapshots?: boolean; runsOlderThan?: string; dryRun?: boolean }>();
      return Session.run(options, async (session) => {
        const runsOlderThanMs = options.runsOlderThan === undefined ? undefined : parseDuration(options.runsOlderThan);
        if (options.runsOlderThan !== undefined && runsOlderThanMs === undefined) throw new UsageError(`--runs-older-than ${options.runsOlderThan}: expected a duration such as \`720h\``);
        const report = await prune(session.engine, { allSnapshots: options.allSnapshots, dryRun: options.dryRun, runsOlderThanMs });
        session.result({ ...report, dryRun: options.dryRun ?? false }, () => {
          const freed = report.snapshots.reduce((sum, snapshot) => sum + snapshot.sizeBytes, 0);
          return columns([
            ['sandboxes', options.dryRun ? 'not looked for' : String(report.sandboxes.length)],
            ['snapshots', `${report.snapshots.length}  ${bytes(freed)}`],
            ['runs', String(report.runs.length)],
          ]);
        });
      });
    });
}
