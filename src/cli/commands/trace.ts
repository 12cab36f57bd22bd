import { type Command, InvalidArgumentError } from 'commander';
import type { TraceReader } from '../../trace/model.js';
import { oneLine } from '../plain.js';
import { wholeNumberFrom0 } from '../options.js';
import { Session, type CommonOptions } from '../session.js';
import { traceNamed } from '../travel.js';
import { addTraceDiff } from './traceDiff.js';
import { headReport, stepReport, stepsReport } from '../traceReport.js';

interface TraceOptions extends CommonOptions {
  readonly step?: number;
  readonly steps?: { readonly from: number; readonly to: number };
  readonly member?: number;
  readonly search?: string;
}

/** Rows of the table when no others are asked for. */
const ROWS = 500;
const MOST_HITS = 1000;

function range(text: string): { from: number; to: number } {
  const match = /^(\d+)(?:\.\.(\d+))?$/.exec(text);
  const [from, last] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])];
  if (!match || last < from) throw new InvalidArgumentError('expected numbers of steps such as 0..99.');
  return { from, to: last + 1 };
}

export function addTrace(program: Command): void {
  const trace = program
    .command('trace <file>')
    .description('a recorded trace of any known format: what it is, how it ended, its steps; <file> may be RUN:EPISODE such as latest:3, the folder of an episode, or of a Harbor trial or job')
    .option('--step <k>', 'one step, all of it; from 0', wholeNumberFrom0)
    .option('--steps <range>', `which steps the table has, such as 0..99; else the first ${ROWS}`, range)
    .option('--member <n>', 'which trace of a file that holds several; from 0', wholeNumberFrom0)
    .option('--search <text>', 'the steps that hold a text, whatever its case')
    .action((file: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<TraceOptions>();
      return Session.run(options, async (session) => {
        const { openTrace } = await import('../../trace/open.js');
        const reader = await openTrace(await traceNamed(session.engine, file), { member: options.member, signal: session.signal });
        try {
          if (options.search !== undefined) await search(session, reader, options.search);
          else if (options.step !== undefined) await step(session, reader, options.step);
          else await overview(session, reader, options.steps);
        } finally {
          await reader.close();
        }
      });
    });
  addTraceDiff(trace);
}

async function overview(session: Session, reader: TraceReader, wanted = { from: 0, to: ROWS }): Promise<void> {
  await reader.settled(session.signal);
  const head = await reader.head();
  const steps = await reader.summaries(wanted.from, wanted.to, session.signal);
  session.result({ ...head, list: steps }, () => {
    const rest = head.steps - steps.length;
    return [headReport(head), '', ...(steps.length ? [stepsReport(steps)] : ['no steps']), ...(rest > 0 ? [`${rest} other steps; --steps A..B shows them, --step K all of one`] : [])].join('\n');
  });
}

async function step(session: Session, reader: TraceReader, index: number): Promise<void> {
  if (index >= (await reader.head()).steps) await reader.settled(session.signal);
  const found = await reader.step(index, session.signal);
  session.result(found, () => stepReport(found, Boolean(process.stdout.isTTY) && process.env.NO_COLOR === undefined));
}

async function search(session: Session, reader: TraceReader, text: string): Promise<void> {
  const hits = [];
  let more = false;
  for await (const hit of reader.search(text, session.signal)) {
    if (hits.length === MOST_HITS) {
      more = true;
      break;
    }
    hits.push(hit);
    if (!session.json) session.print(`${String(hit.step).padStart(8)}  ${oneLine(hit.text)}`);
  }
  if (session.json) session.result({ hits, more }, () => '');
  else session.note(hits.length ? (more ? `the first ${MOST_HITS} steps; there are more` : '') : 'not found');
}
