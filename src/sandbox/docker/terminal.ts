/** Commands on a terminal, which the engine's exec API gives them. */
import type Docker from 'dockerode';
import { Readable, type Duplex } from 'node:stream';
import { SandboxError, Unsupported } from '../errors.js';
import type { TerminalSize } from '../provider.js';
import { statusOf } from './failures.js';
import type { StartedExec } from './inside.js';
import { becoming, framed, preparation, TERMINAL_WRAPPER, type Command } from './shell.js';

/** Bytes that are held for the reader before the command is made to wait. */
const BUFFER_BYTES = 128 << 10;
/** Most that a shell may say before it is ready. */
const MOST_GREETING = 4096;

/** What a terminal shows, from the moment on at which the command has it. Nothing marks its end but the end of the connection. */
export class Screen {
  readonly stdout: Readable;
  readonly stderr = Readable.from([]);
  readonly report = new Promise<never>(() => undefined);
  /** Resolves when the shell is ready to be told what to do, rejects if it cannot be. */
  readonly ready: Promise<void>;
  /** Resolves when the terminal is the command's. */
  readonly begun: Promise<void>;
  private onReady!: (error?: Error) => void;
  private onBegun!: (error?: Error) => void;
  private greeting: Buffer | undefined = Buffer.alloc(0);
  private socket: Duplex | undefined;
  private released = false;
  private over = false;

  constructor(readonly nonce: string) {
    this.stdout = new Readable({ highWaterMark: BUFFER_BYTES, read: () => void this.socket?.resume(), destroy: (error, done) => (this.release(), done(error)) });
    [this.ready, this.onReady] = promised();
    [this.begun, this.onBegun] = promised();
  }

  attach(socket: Duplex): Promise<void> {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('error', () => undefined);
    return new Promise((resolve) => {
      const closed = (): void => {
        const error = new SandboxError('the terminal has ended before it was there');
        this.onReady(error);
        this.onBegun(error);
        resolve();
      };
      socket.once('end', closed).once('close', closed);
    });
  }

  /** What still comes is dropped. */
  release(): void {
    this.released = true;
    this.socket?.resume();
  }

  end(): void {
    if (this.over) return;
    this.over = true;
    if (!this.stdout.destroyed) this.stdout.push(null);
    this.release();
  }

  private take(chunk: Buffer): void {
    if (this.greeting !== undefined) {
      this.greeting = Buffer.concat([this.greeting, chunk]);
      const said = this.greeting.toString('latin1');
      const found = [...said.matchAll(/([0-9a-f]{32}) (ready|none|go)\r?\n/g)].filter(([, nonce]) => nonce === this.nonce);
      if (found.some(([, , word]) => word === 'ready')) this.onReady();
      if (found.some(([, , word]) => word === 'none')) this.onReady(new Unsupported('a terminal needs the program stty (coreutils) in the image'));
      const go = found.find(([, , word]) => word === 'go');
      if (!go) {
        if (this.greeting.length > MOST_GREETING) this.onReady(new SandboxError('the shell of the sandbox does not get ready'));
        return;
      }
      this.onBegun();
      chunk = this.greeting.subarray(go.index + go[0].length);
      this.greeting = undefined;
      if (chunk.length === 0) return;
    }
    if (this.over || this.stdout.destroyed || this.released) return;
    if (!this.stdout.push(chunk)) this.socket?.pause();
  }
}

/** A promise, and what settles it. One that nobody waits for may fail. */
function promised(): [Promise<void>, (error?: Error) => void] {
  let settle!: (error?: Error) => void;
  const promise = new Promise<void>((resolve, reject) => (settle = (error) => (error ? reject(error) : resolve())));
  promise.catch(() => undefined);
  return [promise, settle];
}

export interface StartedTerminal extends StartedExec {
  readonly resize: (size: TerminalSize) => void;
}

/** Values of the environment go in through the terminal, which shows nothing meanwhile. */
export async function startOnTerminal(container: Docker.Container, command: Command, screen: Screen, size: TerminalSize, signal: AbortSignal): Promise<StartedTerminal> {
  const exec = await container.exec({ Cmd: ['/bin/sh', '-c', TERMINAL_WRAPPER, 'sh', screen.nonce], AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: true, abortSignal: signal });
  const socket = await exec.start({ hijack: true, stdin: true, Tty: true, abortSignal: signal });
  const closed = screen.attach(socket);
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await screen.ready;
    await resize(exec, size);
    socket.write(framed(preparation(command) + becoming(command), screen.nonce));
    await screen.begun;
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return { exec, socket, closed, resize: (other) => void resize(exec, other).catch(() => undefined) };
}

/** Podman answers that it has made something, which the client takes for a failure. */
async function resize(exec: Docker.Exec, { columns, rows }: TerminalSize): Promise<void> {
  await exec.resize({ w: columns, h: rows }).catch((error: unknown) => {
    if (statusOf(error) !== 201) throw error;
  });
}
