import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import { chosenEpisodes } from '../../engine/export.js';
import { exportLines, exportSelection, isFolderFormat } from '../../engine/exportSelection.js';
import type { TraceExport } from '../../engine/exportTraces.js';
import { solutionOf } from '../../engine/solution.js';
import type { RunRecord } from '../../store/records.js';
import { TRACE_FILE } from '../../trace/writer.js';
import { UsageError } from '../failure.js';
import { plural } from '../format.js';
import { oneLine } from '../plain.js';
import { Session, type CommonOptions } from '../session.js';

const FORMATS = ['jsonl', 'csv', 'chat', 'atif', 'native', 'solution'] as const;

interface ExportOptions extends CommonOptions {
  readonly format: (typeof FORMATS)[number];
  readonly output?: string;
  readonly where?: string;
}

/** Sentences about episodes that are left out, before the rest is only counted. */
const TOLD = 5;

export function addExport(program: Command): void {
  program
    .command('export <run>')
    .description('finished episodes: a line each (jsonl, csv), their traces as chat messages (chat), as a Harbor job with ATIF 1.7 (atif), or as they are (native); the commands of one episode for the template (solution)')
    .addOption(new Option('-f, --format <format>', 'what to write').choices(FORMATS).default('jsonl'))
    .option('-o, --output <path>', 'where to: a file, standard output if absent; a folder for atif and native')
    .option('-w, --where <filter>', "which episodes, as in the table of the run view: 'status:completed reward>=0.5 episode:0..9'")
    .action((name: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<ExportOptions>();
      return Session.run(options, async (session) => {
        const { engine, signal } = session;
        const run = await engine.runs.find(name);
        const { format, output, where } = options;
        if (format === 'solution') return solution(session, run, options);
        if (output !== undefined) return tell(session, run, options, await exportSelection(engine.layout, run, format, { where }, output, signal));
        if (isFolderFormat(format)) throw new UsageError(`--format ${format} writes a folder: name it with --output`);
        tellLeft(session, await exportLines(engine.layout, run, format, { where }, process.stdout, signal));
      });
    });
}

async function solution(session: Session, run: RunRecord, options: ExportOptions): Promise<void> {
  const { layout } = session.engine;
  const { output, where } = options;
  const [chosen, ...others] = await chosenEpisodes(layout, run.id, { where });
  if (!chosen || others.length) throw new UsageError("--format solution is of one episode: choose it with --where 'episode:0'");
  const text = await solutionOf(join(layout.episode(run.id, chosen.episode), TRACE_FILE));
  if (output === undefined) process.stdout.write(text);
  else {
    await writeFile(output, text);
    tell(session, run, options, { episodes: 1, left: [] });
  }
}

function tell(session: Session, run: RunRecord, { format, output }: ExportOptions, result: TraceExport): void {
  const key = format === 'atif' || format === 'native' ? 'folder' : 'file';
  session.result({ run: run.id, format, [key]: output, episodes: result.episodes, left: result.left }, () => `${plural(result.episodes, 'episode')} in ${output}`);
  tellLeft(session, result);
}

function tellLeft(session: Session, { left }: TraceExport): void {
  for (const { episode, why } of left.slice(0, TOLD)) session.note(`left out: episode ${episode}: ${oneLine(why)}`);
  if (left.length > TOLD) session.note(`left out: ${left.length - TOLD} more`);
}
