/** The runner: the engine as a process of its own, which editors share. What this command line runs by itself needs none. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { RunnerStatus } from '../../runner/api.js';
import type { RunnerConnection } from '../../runner/connect.js';
import { lockHolder } from '../../store/lock.js';
import { readLog } from '../../runner/log.js';
import { checkPrivate, findPlace, type Place } from '../../runner/place.js';
import { EXIT, describeFailure, failureObject } from '../failure.js';
import { columns, milliseconds, plural } from '../format.js';
import { wholeNumber } from '../options.js';
import { oneLine } from '../plain.js';
import { connect } from '../runnerConnection.js';

/** For runs to be cancelled and their sandboxes to end. */
const STOP_MS = 180_000;
/** For an answer of one that is to be killed if it gives none. */
const FORCE_MS = 10_000;
const GONE_MS = 5000;

interface RunnerOptions {
  readonly json?: boolean;
  readonly force?: boolean;
  readonly lines?: number;
}

export function addRunner(program: Command): void {
  const runner = program.command('runner').description('the engine as a process of its own, which the editor\'s windows share');
  const add = (name: string, description: string, action: (place: Place, options: RunnerOptions) => Promise<number>): Command =>
    runner
      .command(name)
      .description(description)
      .action(async (_options: unknown, command: Command) => {
        const options = command.optsWithGlobals<RunnerOptions>();
        try {
          process.exitCode = await action(await findPlace(), options);
        } catch (error) {
          process.exitCode = EXIT.failed;
          if (options.json) print(JSON.stringify(failureObject(error), null, 2));
          else process.stderr.write(`${describeFailure(error)}\n`);
        }
      });
  add('status', 'whether it runs, and what it does', status);
  add('start', 'start it, if it does not run', start);
  add('stop', 'end it, if nothing needs it', stop).option('--force', 'cancel what runs; kill it if it does not answer');
  add('logs', 'the end of its log', logs).option('-n, --lines <n>', 'how many lines (200)', wholeNumber);
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function withStatus(connection: RunnerConnection): Promise<RunnerStatus> {
  const found = await connection.client.request('runner/status', {});
  // Of whoever else is connected.
  return { ...found, connections: found.connections - 1 };
}

async function status(place: Place, { json }: RunnerOptions): Promise<number> {
  const connection = await connect(place, { start: false });
  const found = connection && (await withStatus(connection));
  connection?.close();
  print(json ? JSON.stringify({ running: found !== undefined, folder: place.folder, ...found }, null, 2) : found ? describe(found, place) : `no engine runs (${place.folder})`);
  return EXIT.done;
}

async function start(place: Place, { json }: RunnerOptions): Promise<number> {
  const connection = (await connect(place, { start: true }))!;
  const { pid, version } = connection.welcome;
  connection.close();
  print(json ? JSON.stringify({ running: true, folder: place.folder, ...connection.welcome }, null, 2) : `engine ${version} runs, process ${pid}`);
  return EXIT.done;
}

async function stop(place: Place, { json, force }: RunnerOptions): Promise<number> {
  let connection: RunnerConnection | undefined;
  try {
    connection = await connect(place, { start: false, timeoutMs: FORCE_MS });
    if (connection && !force) {
      const { runs, kept } = await withStatus(connection);
      if (runs + kept > 0) {
        connection.close();
        const what = [...(runs ? [plural(runs, 'run')] : []), ...(kept ? [plural(kept, 'kept sandbox', 'kept sandboxes')] : [])].join(' and ');
        throw new Error(`the engine has ${what}; \`rl-sandboxes runner stop --force\` cancels them, and runs can be resumed`);
      }
    }
    if (connection) {
      await connection.client.request('shutdown', {}, { signal: AbortSignal.timeout(STOP_MS) });
      await connection.closed;
      // It lets go of its other connections first.
      for (const late = AbortSignal.timeout(GONE_MS); (await lockHolder(place.folder)) === connection.welcome.pid && !late.aborted; ) await delay(20);
    }
  } catch (error) {
    const pid = force ? await lockHolder(place.folder) : undefined;
    if (pid === undefined) throw error;
    process.kill(pid, 'SIGKILL');
  }
  const pid = connection?.welcome.pid;
  print(json ? JSON.stringify({ running: false, folder: place.folder, stopped: pid }, null, 2) : pid === undefined ? 'no engine runs' : `engine ended, process ${pid}`);
  return EXIT.done;
}

async function logs(place: Place, { json, lines = 200 }: RunnerOptions): Promise<number> {
  const found = (await checkPrivate(place)) ? await readLog(place.log, lines) : [];
  print(json ? JSON.stringify({ file: place.log, lines: found }, null, 2) : found.join('\n') || `there is no log (${place.log})`);
  return EXIT.done;
}

function describe(found: RunnerStatus, { folder }: Place): string {
  const { pid, version, build, startedAt, connections, active, kept, interrupted, retiring, idleTimeoutMs } = found;
  const place = ({ root, template, number, finished, total }: RunnerStatus['active'][number]) => `${oneLine(template)} #${number}  ${finished}/${total}  ${root}`;
  return [
    columns([
      ['engine', `${version} (${build})  process ${pid}  up ${milliseconds(Date.now() - startedAt)}${retiring ? '  ends with its last run, for a newer one' : ''}`],
      ['folder', folder],
      ['connections', `${connections}   ends ${milliseconds(idleTimeoutMs)} after nothing needs it`],
      ['runs', active.length ? active.map(place).join('\n             ') : 'none'],
      ['sandboxes', `${kept} kept`],
    ]),
    ...interrupted.map((run) => `interrupted: ${place(run)}\n  go on with: rl-sandboxes resume ${run.id} --root '${run.root}'`),
  ].join('\n');
}
