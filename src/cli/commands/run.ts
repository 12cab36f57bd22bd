import { once } from 'node:events';
import { Option, type Command } from 'commander';
import type { RunRequest } from '../../engine/engine.js';
import { estimate, estimateFork, estimateOf } from '../../engine/estimate.js';
import type { LiveRun, LiveRunEvents } from '../../engine/liveRun.js';
import { comparison } from '../../engine/findings.js';
import type { RunRecord } from '../../store/records.js';
import { parseDuration } from '../../template/units.js';
import { maxCostOption, mayCost, yesOption, type CostOptions } from '../cost.js';
import { EXIT, UsageError } from '../failure.js';
import { milliseconds, plural } from '../format.js';
import { oneLine, plain } from '../plain.js';
import { Progress } from '../progress.js';
import { runObject, runReport } from '../runReport.js';
import { Session, type CommonOptions } from '../session.js';
import { CURRENT, orCurrent, traceNamed } from '../travel.js';
import { policyOption, providerOption, seedsText, wholeNumber, wholeNumberFrom0 } from '../options.js';

interface RunCommandOptions extends CommonOptions, CostOptions {
  readonly episodes?: number;
  readonly concurrency?: number;
  readonly seeds?: string;
  readonly samples?: number;
  readonly provider?: string;
  readonly timeout?: string;
  readonly policy?: string;
  readonly trace?: string;
  readonly episode?: number;
  readonly rebuild?: boolean;
  readonly snapshot?: string;
  readonly verbose?: boolean;
}

export function addRun(program: Command): void {
  program
    .command('run <template>')
    .description('build if needed, then run every episode and read the rewards')
    .option('-n, --episodes <n>', 'how many seeds: 0 to n - 1', wholeNumber)
    .option('-c, --concurrency <n>', 'episodes at once (64)', wholeNumber)
    .option('--seeds <seeds>', 'a range 0..511 or a list 3,17,99', seedsText)
    .option('--samples <n>', 'episodes for each seed', wholeNumber)
    .addOption(providerOption())
    .option('--timeout <duration>', 'how long an episode may act, such as 90s')
    .addOption(policyOption("who acts; the template's own if absent"))
    .option('--trace <file>', 'of the policy replay: the trace whose actions are taken again')
    .addOption(maxCostOption())
    .addOption(yesOption())
    .option('--rebuild', 'build even if a snapshot is there')
    .option('--snapshot <id>', 'one that every episode starts from, in place of the build')
    .option('-v, --verbose', 'show the output of the build')
    .action((template: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<RunCommandOptions>();
      return Session.run(options, async (session) => {
        if (options.episodes !== undefined && options.seeds !== undefined) throw new UsageError('-n and --seeds exclude each other');
        if (options.snapshot !== undefined && (options.rebuild || options.provider !== undefined)) throw new UsageError('--snapshot says what is restored and where: it excludes --rebuild and --provider');
        const request: RunRequest = {
          seeds: options.seeds ?? (options.episodes === undefined ? undefined : String(options.episodes)),
          samples: options.samples,
          concurrency: options.concurrency,
          provider: options.provider,
          timeoutMs: options.timeout === undefined ? undefined : duration(options.timeout),
          policy: options.policy,
          trace: options.trace === undefined ? undefined : await traceNamed(session.engine, options.trace),
          rebuild: options.rebuild,
          snapshot: options.snapshot,
          maxCost: options.maxCost,
        };
        if (!(await mayCost(session, await estimate(session.engine, template, request), options))) return EXIT.cancelled;
        return follow(session, options.verbose, (events) => session.engine.start(template, request, events));
      });
    });

  program
    .command('replay <run>')
    .description('take the actions of finished episodes again, each in a fresh sandbox, and say where something else comes of them')
    .option('-e, --episode <n>', 'one episode; all of them if absent', wholeNumberFrom0)
    .addOption(yesOption())
    .option('-v, --verbose', 'show the output of the build')
    .action((name: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<RunCommandOptions>();
      return Session.run(options, async (session) => {
        const { engine } = session;
        if (!(await mayCost(session, await estimateOf(engine, name, options.episode ?? 'replay'), options))) return EXIT.cancelled;
        const old = await engine.runs.find(name);
        const recorded = (await engine.reader(old.id)).records;
        let same = true;
        const code = await follow(session, options.verbose, (events) => engine.replay(old.id, options.episode, events), async (run) => {
          const lines = comparison((await engine.reader(run.id)).records, recorded);
          same = lines.every((line) => line.same);
          return { replay: lines, text: lines.map(({ episode, text }) => `episode ${episode}: ${oneLine(text, 500)}`).join('\n') };
        });
        return code === EXIT.done && !same ? EXIT.failed : code;
      });
    });

  program
    .command('fork <trace>')
    .description('new episodes that begin where a recorded one was after a step: its actions are taken again, then the policy goes on; <trace> may be the folder of the episode')
    .addOption(new Option('--step <k>', 'the last step that is taken again, as `trace FILE` numbers them').argParser(wholeNumberFrom0).makeOptionMandatory())
    .addOption(CURRENT)
    .option('-n, --episodes <n>', 'how many (1)', wholeNumber)
    .option('-c, --concurrency <n>', 'episodes at once (64)', wholeNumber)
    .option('--timeout <duration>', 'how long an episode may act, the steps that are taken again included')
    .addOption(policyOption("who goes on; the template's own if absent"))
    .addOption(yesOption())
    .option('-v, --verbose', 'show the output of the build')
    .action((trace: string, _options: unknown, command: Command) => {
      const { step, current, episodes, concurrency, timeout, policy, verbose, ...options } = command.optsWithGlobals<RunCommandOptions & { step: number; current?: boolean }>();
      return Session.run(options, async (session) => {
        const request = { trace: await traceNamed(session.engine, trace), step, current, policy, samples: episodes, concurrency, timeoutMs: timeout === undefined ? undefined : duration(timeout) };
        if (!(await mayCost(session, await orCurrent(estimateFork(session.engine, request)), options))) return EXIT.cancelled;
        return follow(session, verbose, (events) => session.engine.fork(request, events));
      });
    });

  program
    .command('resume <run>')
    .description('run the missing episodes of a run that was interrupted or cancelled')
    .addOption(maxCostOption())
    .addOption(yesOption())
    .option('-v, --verbose', 'show the output of the build')
    .action((run: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<RunCommandOptions>();
      return Session.run(options, async (session) => {
        if (!(await mayCost(session, await estimateOf(session.engine, run, 'missing', options.maxCost), options))) return EXIT.cancelled;
        return follow(session, options.verbose, (events) => session.engine.resume(run, events, options));
      });
    });
}

/** Starts a run, shows its progress, cancels it when the session is interrupted, and reports. */
async function follow(session: Session, verbose: boolean | undefined, start: (events: LiveRunEvents) => Promise<LiveRun>, more?: (run: RunRecord) => Promise<{ readonly text: string }>): Promise<number> {
  const progress = new Progress(process.stderr);
  let announced = false;
  const live = await start({
    onOutput: (text) => void (verbose && session.note(plain(text).trimEnd())),
    onChange: (run) => {
      if (session.json) return;
      const { snapshot } = run.record;
      if (snapshot && !announced) {
        announced = true;
        session.note(snapshot.built ? `Built snapshot ${snapshot.id} in ${milliseconds(snapshot.buildMs)}.` : run.record.from === undefined ? `Nothing to build: snapshot ${snapshot.id} is up to date.` : `Episodes start from snapshot ${snapshot.id}.`);
      }
      if (run.record.finishedAt === undefined) progress.update(run);
    },
  });
  const cancel = () => void live.cancel();
  session.signal.addEventListener('abort', cancel, { once: true });
  if (session.signal.aborted) cancel();
  const run = await live.ended;
  if (!session.json) progress.end(live);
  if (run.state === 'failed' && live.failure !== undefined && !run.snapshot) throw live.failure;
  const directory = session.engine.layout.run(run.id);
  // With a full disk the record in memory is the true one.
  const snapshot = { ...(await session.engine.snapshot(run.id)), run };
  const { text, ...rest } = (await more?.(run)) ?? { text: '' };
  session.result({ ...runObject(snapshot, directory), ...rest }, () => [runReport(snapshot, directory), ...(text ? [text] : [])].join('\n'));
  if (session.engine.held.size > 0) {
    session.note(`${plural(session.engine.held.size, 'sandbox', 'sandboxes')} stay warm, as the template asks${run.cost ? ', and are billed until they end' : ''}; Ctrl-C ends them.`);
    await Promise.race([session.engine.held.empty(), once(session.signal, 'abort')]);
  }
  if (run.state === 'cancelled' && run.error === undefined) return EXIT.cancelled;
  return run.state === 'done' && snapshot.counts.error === 0 ? EXIT.done : EXIT.failed;
}

function duration(text: string): number {
  const value = parseDuration(text);
  if (value === undefined) throw new UsageError(`--timeout ${text}: expected a duration such as \`90s\` or \`5m\``);
  return value;
}

