import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Option, type Command } from 'commander';
import { chosenEpisodes, exportRun } from '../../engine/export.js';
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
        const run = await session.engine.runs.find(name);
        const { format, output } = options;
        if (format === 'atif' || format === 'native') return folder(session, run, { ...options, format });
        if (output === undefined) {
          await lines(session, run, options, process.stdout);
          return;
        }
        const file = createWriteStream(output);
        const written = finished(file);
        const result = await Promise.race([lines(session, run, options, file), written.then(() => undefined)]);
        file.end();
        await written;
        tell(session, run, options, result ?? { episodes: 0, left: [] });
      });
    });
}

async function lines(session: Session, run: RunRecord, { format, where }: ExportOptions, output: Writable): Promise<TraceExport> {
  const { layout } = session.engine;
  if (format === 'jsonl' || format === 'csv') return { episodes: await exportRun(layout, run.id, format, output, where), left: [] };
  if (format === 'solution') {
    const [chosen, ...others] = await chosenEpisodes(layout, run.id, where);
    if (!chosen || others.length) throw new UsageError("--format solution is of one episode: choose it with --where 'episode:0'");
    output.write(await solutionOf(join(layout.episode(run.id, chosen.episode), TRACE_FILE)));
    return { episodes: 1, left: [] };
  }
  const { exportChat } = await import('../../engine/exportTraces.js');
  const result = await exportChat(layout, run, await chosenEpisodes(layout, run.id, where), output, session.signal);
  if (output === process.stdout) tellLeft(session, result);
  return result;
}

async function folder(session: Session, run: RunRecord, options: ExportOptions & { readonly format: 'atif' | 'native' }): Promise<void> {
  if (options.output === undefined) throw new UsageError(`--format ${options.format} writes a folder: name it with --output`);
  const { exportAtif, exportNative } = await import('../../engine/exportTraces.js');
  const { layout } = session.engine;
  const write = options.format === 'atif' ? exportAtif : exportNative;
  tell(session, run, options, await write(layout, run, await chosenEpisodes(layout, run.id, options.where), options.output, session.signal));
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
