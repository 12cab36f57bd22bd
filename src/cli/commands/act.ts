import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import type { ManualAction } from '../../engine/engine.js';
import { EXIT } from '../failure.js';
import { reward } from '../format.js';
import { oneLine, plain } from '../plain.js';
import { providerOption, wholeNumberFrom0 } from '../options.js';
import { Session, type CommonOptions } from '../session.js';

/** A person thinks longer than a program. */
const TIMEOUT_MS = 8 * 3_600_000;

export function addAct(program: Command): void {
  program
    .command('act <template>')
    .description('act in one episode yourself: a command a line from standard input, its output, and at the end the reward')
    .option('--seed <n>', 'seed of the episode (0)', wholeNumberFrom0)
    .addOption(providerOption())
    .action((template: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { seed?: number; provider?: string }>();
      return Session.run(options, (session) => act(session, template, options));
    });
}

async function act(session: Session, template: string, { seed = 0, provider }: { readonly seed?: number; readonly provider?: string }): Promise<number> {
  const { engine } = session;
  const live = await engine.start(template, { policy: 'manual', seeds: `${seed}..${seed}`, samples: 1, concurrency: 1, timeoutMs: TIMEOUT_MS, provider });
  const cancel = () => void live.cancel();
  session.signal.addEventListener('abort', cancel, { once: true });
  session.note(`Each line is a command of its own in the sandbox: only files stay. An empty line or the end of the input submits; Ctrl-C cancels.`);
  const input = createInterface({ input: process.stdin, output: process.stdin.isTTY ? process.stderr : undefined, prompt: '$ ' });
  void live.ended.then(() => input.close());
  const send = (action: ManualAction) => live.seats.act(0, action);
  try {
    input.prompt();
    for await (const line of input) {
      if (line.trim() === '') break;
      const { stdout, stderr, exitCode, error } = await send({ run: line });
      for (const text of [stdout, stderr]) if (text) session.note(plain(text).trimEnd());
      if (error !== undefined || exitCode) session.note(error === undefined ? `[exit code ${exitCode}]` : `[${error}]`);
      input.prompt();
    }
    await send({ submit: true });
  } catch (error) {
    // That the run has ended is told by its record.
    if (!live.signal.aborted && live.record.finishedAt === undefined && live.record.state !== 'failed') throw error;
  } finally {
    input.close();
  }
  const run = await live.ended;
  if (run.state === 'cancelled') return EXIT.cancelled;
  if (live.failure !== undefined) throw live.failure;
  const { record } = await engine.episode(run.id, 0);
  const directory = engine.layout.episode(run.id, 0);
  session.result({ run: run.id, record, directory }, () => [`reward ${reward(record.reward)}${record.cause ? `  ${oneLine(record.cause)}` : ''}`, `trace  ${directory}/trace.jsonl`].join('\n'));
  return record.status === 'error' ? EXIT.failed : EXIT.done;
}
