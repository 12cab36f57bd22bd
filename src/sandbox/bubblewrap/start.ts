/** Starts a sandbox's processes and waits until its first one answers. */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { spawnFailure } from '../command.js';
import { ProviderUnavailable } from '../errors.js';
import type { Ability } from './ability.js';
import type { Group } from './cgroups.js';
import { startFailure } from './failures.js';
import { closeDescriptor, type Fifos } from './fifos.js';
import { Gate } from './gate.js';
import { HOST_ENVIRONMENT, type Target } from './joined.js';
import { REPORT_FD, launchCommand, rlimits, type Launch } from './launch.js';
import { CommandOutput, OutputPipe } from './outputPipe.js';
import { kill } from './processes.js';
import { exports, quote } from './shell.js';
import { tool } from './tools.js';

export interface Started {
  readonly child: ChildProcess;
  readonly gate: Gate;
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
  readonly target: Target;
  readonly surroundings: string;
  readonly oomKills: number;
  /** Resolves when nothing of it runs any more. */
  readonly ended: Promise<void>;
}

export interface StartParts {
  readonly stateDir: string;
  readonly ability: Ability;
  readonly fifos: Fifos;
  readonly group: Group;
  readonly id: string;
  readonly launch: Launch;
  /** File of the mount table. */
  readonly table: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string | undefined;
}

/** What a command finds in its environment if nobody says otherwise. */
const ENVIRONMENT = { PATH: HOST_ENVIRONMENT.PATH, HOME: '/root' };

/** Rejects with what went wrong, or the signal's reason, when nothing of it runs any more. */
export async function start(parts: StartParts, signal: AbortSignal): Promise<Started> {
  const { ability, launch, group } = parts;
  const surroundings = surroundingsOf(parts);
  const [stdoutPipe, stderrPipe] = await parts.fifos.set(false);
  const [file, ...args] = launchCommand(parts.stateDir, ability, launch, parts.table, parts.id);
  let child: ChildProcess;
  try {
    signal.throwIfAborted();
    // Apart from our terminal's group: Ctrl-C is for us, and we end sandboxes in good order.
    child = spawn(file!, args, { stdio: ['pipe', stdoutPipe.theirs, stderrPipe.theirs, 'pipe'], env: HOST_ENVIRONMENT, cwd: '/', detached: true });
  } catch (error) {
    for (const pipe of [stdoutPipe, stderrPipe]) closeDescriptor(pipe.ours);
    throw spawnFailure(error);
  } finally {
    for (const pipe of [stdoutPipe, stderrPipe]) closeDescriptor(pipe.theirs);
  }
  const [stdout, stderr] = [new OutputPipe(stdoutPipe.ours), new OutputPipe(stderrPipe.ours)];
  const gate = new Gate(child.stdin!, child.stdio[REPORT_FD] as Readable);
  let said = '';
  const complaints = new CommandOutput();
  complaints.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2000)));
  stderr.serve(complaints);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) => reject((error as NodeJS.ErrnoException).code === 'ENOENT' ? new ProviderUnavailable(`${file} is gone`, 'install util-linux and bubblewrap') : spawnFailure(error)));
    void ended.then((code) => stderr.finish(() => undefined).then(() => startFailure(said, code)).then(reject));
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  failed.catch(() => undefined);
  try {
    const [oomKills] = await Promise.race([Promise.all([group.oomKills(), gate.run(surroundings)]), failed]);
    await stderr.finish(() => undefined);
    const target: Target = { ability, launcher: child.pid!, gate: gate.pid!, build: launch.build, procs: launch.procs, rlimits: rlimits(ability, launch.limits) };
    return { child, gate, stdout, stderr, target, surroundings, oomKills, ended: ended.then(() => undefined) };
  } catch (error) {
    gate.end();
    if (child.pid !== undefined) {
      if (gate.pid !== undefined) kill(gate.pid);
      child.kill('SIGKILL');
      await ended;
    }
    stdout.close();
    stderr.close();
    throw error;
  }
}

/** Environment and folder, as lines of shell. A folder that is missing is made, as container engines do. */
function surroundingsOf({ env, workdir, launch }: StartParts): string {
  const lines = exports({ ...ENVIRONMENT, ...launch.source.root.env, ...env });
  const folder = workdir ?? launch.source.root.workdir;
  if (folder === undefined || folder === '/') return lines;
  return `${lines}[ -d ${quote(folder)} ] || ${tool('mkdir').join(' ')} -p -- ${quote(folder)}\ncd -- ${quote(folder)}\n`;
}
