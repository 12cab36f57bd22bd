/** Commands in a running container through the engine's exec API. */
import type Docker from 'dockerode';
import type { Duplex } from 'node:stream';
import { SandboxError } from '../errors.js';
import type { CommandOutput } from '../marked/commandOutput.js';
import { FrameReader } from './frames.js';
import { framed, LASTING_WRAPPER, preparation, WRAPPER, type Command } from './shell.js';

export interface StartedExec {
  readonly exec: Docker.Exec;
  /** The command's input, to be written and ended. */
  readonly socket: Duplex;
  /** Settles when the connection has ended. */
  readonly closed: Promise<void>;
}

export async function startCommand(container: Docker.Container, command: Command, output: CommandOutput, signal: AbortSignal): Promise<StartedExec> {
  const head = framed(preparation(command), output.nonce);
  const exec = await container.exec({ Cmd: ['/bin/sh', '-c', command.lasting ? LASTING_WRAPPER : WRAPPER, 'sh', ...command.argv], AttachStdin: true, AttachStdout: true, AttachStderr: true, abortSignal: signal });
  const socket = await exec.start({ hijack: true, stdin: true, abortSignal: signal });
  const reader = new FrameReader(socket, output);
  output.onWanted = () => reader.resume();
  socket.write(head);
  return { exec, socket, closed: reader.closed };
}

/** Most bytes that a script of our own may say. */
const MOST_OUTPUT = 1 << 20;

/** Runs a script of our own and gives what it printed on standard output. Its exit code is not looked at. */
export async function ask(container: Docker.Container, script: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  const exec = await container.exec({ Cmd: ['/bin/sh', '-c', script, 'sh', ...args], AttachStdout: true, AttachStderr: true, abortSignal: signal });
  const socket = await exec.start({ hijack: true, stdin: false, abortSignal: signal });
  const pieces: Buffer[] = [];
  let length = 0;
  const reader = new FrameReader(socket, {
    data: (stream, piece) => {
      if (stream === 'stdout' && (length += piece.length) <= MOST_OUTPUT) pieces.push(Buffer.from(piece));
      return true;
    },
  });
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  await reader.closed.finally(() => signal.removeEventListener('abort', stop));
  if (length > MOST_OUTPUT) throw new SandboxError('a program of the sandbox printed more than it can have to say');
  return Buffer.concat(pieces).toString();
}
