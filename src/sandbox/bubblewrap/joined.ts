/**
 * The general way in: a process of the host joins the sandbox's namespaces and gives up what it must not have there, before it does anything
 * that the sandbox asked for. For commands with input, for those beside another, and for those that find others running.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { exitCode, runCommand, spawnFailure, startProgram } from '../command.js';
import { LimitExceeded } from '../errors.js';
import type { ExecOptions } from '../provider.js';
import type { Ability } from './ability.js';
import { closeDescriptor, type Fifos } from './fifos.js';
import { HOST_ENVIRONMENT } from './host.js';
import type { Interruption } from './interruption.js';
import { BUILD_CAPABILITIES } from './launch.js';
import { OutputPipe, type CommandOutput } from './outputPipe.js';
import { killDescendants } from './processes.js';
import { quote } from '../quote.js';
import { closeAbove } from './shell.js';
import { tool } from './tools.js';

/** Descriptor on which the command finds its input until it starts. */
const INPUT_FD = 3;
/** Descriptor on which the command says that it is inside. */
const STARTED_FD = 4;

/** By number. */
export interface User {
  readonly uid: string;
  readonly gid: string;
}

/** What of a running sandbox a process needs to join it. */
export interface Target {
  readonly ability: Ability;
  /** The process whose mount namespace holds the sandbox's file systems, and the sandbox's first one; as the host counts. */
  readonly launcher: number;
  readonly gate: number;
  /** Whether the sandbox runs without a user namespace of its own, with the powers of a build. */
  readonly build: boolean;
  /** Whose all commands are, if not root's. */
  readonly user: User | undefined;
  readonly procs: readonly string[];
  /** Lines of bash that limit processes where no control group does. */
  readonly limitLines: readonly string[];
}

/** Words that run what follows with the rights over the sandbox's namespaces. */
export function outer({ ability, launcher }: Pick<Target, 'ability' | 'launcher'>): string[] {
  return ability.privileged ? [] : [ability.host.nsenter, '--preserve-credentials', `--user=/proc/${launcher}/ns/user`, '--'];
}

/** Words that join the sandbox, give up what it must not have there, and become a program of ours. */
export function inner({ ability, gate, build, user }: Target, program: readonly string[]): string[] {
  const several = build && ability.privileged;
  const powers = ['-all', ...(several ? BUILD_CAPABILITIES.map((name) => `+${name}`) : [])].join(',');
  return [
    ...[ability.host.nsenter, '--preserve-credentials', '--target', String(gate), '--mount', '--pid', '--ipc', '--uts', '--net', ...(several ? [] : ['--user']), '--'],
    ...[...tool('setpriv'), ...(user ? [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'] : []), '--no-new-privs', `--bounding-set=${powers}`, '--inh-caps=-all', '--', ...program],
  ];
}

/** Kills everything in the sandbox but its first process, at once, also while that one is busy. Nothing of the sandbox's own is run for it. */
export async function killAllFromOutside(target: Target, signal?: AbortSignal): Promise<void> {
  const [file, ...args] = [...outer(target), target.ability.host.nsenter, `--pid=/proc/${target.gate}/ns/pid`, '--', target.ability.host.sh, '-c', 'kill -9 -1'];
  await runCommand(file, args, { signal, env: HOST_ENVIRONMENT });
}

/** Runs a program of the host where the sandbox's file systems are mounted. */
export function runBeside(target: Target, argv: readonly string[], signal: AbortSignal, stdin?: string): ReturnType<typeof runCommand> {
  const [file, ...args] = [...outer(target), target.ability.host.nsenter, `--mount=/proc/${target.launcher}/ns/mnt`, '--', ...argv];
  return runCommand(file!, args, { signal, env: HOST_ENVIRONMENT, cwd: '/', stdin });
}

/** Line of bash that limits a process of ours as the sandbox is, and becomes its arguments. */
export const enterLine = (target: Target): string => ['umask 022', ...target.procs.map((file) => `echo $$ > ${quote(file)}`), ...target.limitLines, 'exec "$@"'].join(' && ');

export interface Joined {
  readonly pid: number;
  /** The command's exit code; rejects with `LimitExceeded` if it could not be started. */
  readonly exit: Promise<number>;
  /** Kills the command and what it started, as far as it can be told to be from it. */
  kill(): Promise<void>;
}

/** Starts a command, given as lines that become it. */
export async function join(target: Target, fifos: Fifos, becoming: string, stdin: ExecOptions['stdin'], outputs: readonly [CommandOutput, CommandOutput], interruption: Interruption): Promise<Joined> {
  const [stdout, stderr, input] = await fifos.set(stdin !== undefined);
  let child: ChildProcess;
  try {
    child = startProgram(target.ability.host.bash, ['--norc', '--noprofile', '-c', `${closeAbove(STARTED_FD)}\n${enterLine(target)}`, 'bash', ...outer(target), ...inner(target, [...tool('sh'), '-s'])], {
      stdio: ['pipe', stdout.theirs, stderr.theirs, input?.theirs ?? 'ignore', 'pipe'],
      env: HOST_ENVIRONMENT,
      cwd: '/',
      detached: true,
    });
  } catch (error) {
    for (const pipe of [stdout, stderr, input]) if (pipe) closeDescriptor(pipe.ours);
    throw error;
  } finally {
    for (const pipe of [stdout, stderr, input]) if (pipe) closeDescriptor(pipe.theirs);
  }
  const pipes = [new OutputPipe(stdout.ours), new OutputPipe(stderr.ours)];
  pipes.forEach((pipe, index) => pipe.serve(outputs[index]!));
  let started = false;
  const mark = child.stdio[STARTED_FD] as Readable;
  mark.on('data', () => (started = true)).on('error', () => undefined);
  child.stdin!.on('error', () => undefined);
  child.stdin!.end(`echo >&${STARTED_FD}\nexec ${STARTED_FD}>&-\n${becoming} ${input ? `<&${INPUT_FD} ${INPUT_FD}<&-` : '</dev/null'}\n`);
  const writer = input && feed(input.ours, stdin!, (error) => interruption.because(error));
  const exit = (async () => {
    try {
      const [code, signal] = (await once(child, 'close').catch((error: unknown) => {
        throw spawnFailure(error);
      })) as [number | null, NodeJS.Signals | null];
      if (!started) throw new LimitExceeded('a command could not be started in the sandbox: it has no more room for processes or memory');
      return exitCode(code, signal);
    } finally {
      writer?.destroy();
      for (const pipe of pipes) if (await pipe.finish(() => pipe.destroy())) pipe.destroy();
    }
  })();
  exit.catch(() => undefined);
  return {
    pid: child.pid!,
    exit,
    kill: async () => {
      await killDescendants(child.pid!);
      child.kill('SIGKILL');
    },
  };
}

/** Writes a command's input into its pipe. A command that does not read to the end is no error; a source that fails is. */
function feed(fd: number, stdin: NonNullable<ExecOptions['stdin']>, onError: (error: unknown) => void): Socket {
  const socket = new Socket({ fd, readable: false, writable: true });
  socket.on('error', () => undefined);
  if (typeof stdin !== 'string' && !(stdin instanceof Uint8Array)) socket.once('close', () => stdin.destroy());
  writeAll(socket, stdin)
    .catch((error: unknown) => {
      // Once the command has ended its input is closed, which is no failure of the source.
      if (!socket.destroyed) onError(error);
    })
    // A pipe has no half-closing: its end is told by closing it.
    .finally(() => socket.destroy());
  return socket;
}

/** Writes all of a command's input, or as much as is taken. Rejects if the source fails. */
export async function writeAll(to: Writable, stdin: NonNullable<ExecOptions['stdin']>): Promise<void> {
  const write = (chunk: Uint8Array | string): Promise<boolean> => new Promise((resolve) => to.write(chunk, (error) => resolve(!error && !to.destroyed)));
  if (typeof stdin === 'string' || stdin instanceof Uint8Array) await write(stdin);
  else for await (const chunk of stdin) if (!(await write(chunk as Uint8Array))) break;
}
