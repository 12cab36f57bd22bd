/**
 * Connections to an engine behind ssh: each is `ssh HOST docker system dial-stdio`, which is what Docker's own command line runs, so that
 * ~/.ssh/config, agents and jump hosts count.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Transport } from './endpoint.js';

/** An ssh server drops connections that are opened in great numbers at once (`MaxStartups`). */
const MOST_AT_ONCE = 8;

export class DialStdioAgent extends Agent {
  /** `env` is for ssh itself: its agent, its configuration. */
  constructor(
    private readonly target: Extract<Transport, { kind: 'ssh' }>,
    private readonly env: NodeJS.ProcessEnv,
  ) {
    super({ keepAlive: true, maxSockets: MOST_AT_ONCE });
  }

  override createConnection(): Duplex {
    return new DialStdio(spawn('ssh', sshArguments(this.target), { env: this.env, stdio: 'pipe', windowsHide: true }));
  }
}

export function sshArguments({ host, port, user, remoteSocket }: Extract<Transport, { kind: 'ssh' }>): string[] {
  const login = [...(user ? ['-l', user] : []), ...(port ? ['-p', port] : [])];
  // Nobody is there to answer a prompt.
  const remote = ['docker', ...(remoteSocket ? ['--host', `unix://${remoteSocket}`] : []), 'system', 'dial-stdio'];
  return ['-o', 'BatchMode=yes', '-o', 'ConnectTimeout=30', '-T', ...login, '--', host, ...remote];
}

/** A program's input and output as a socket, with as much of a socket's ways as an HTTP agent asks for. */
class DialStdio extends Duplex {
  private complaint = '';
  private writing = false;

  constructor(private readonly child: ChildProcessWithoutNullStreams) {
    super();
    child.stdout.on('data', (chunk: Buffer) => this.push(chunk) || child.stdout.pause());
    child.stderr.on('data', (chunk: Buffer) => (this.complaint = (this.complaint + chunk.toString()).slice(-500)));
    child.stdin.on('error', () => undefined);
    child.on('error', (error) => this.destroy(error));
    child.on('close', (code) => {
      if (code === 0 && !this.writing) this.push(null);
      else this.destroy(Object.assign(new Error(`ssh ended with exit code ${code}: ${this.complaint.trim()}`), { code: 'ECONNREFUSED' }));
    });
  }

  override _read(): void {
    this.child.stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.writing = true;
    this.child.stdin.write(chunk, (error) => {
      // Why it took no more is what it says at its end.
      if (error) return;
      this.writing = false;
      done();
    });
  }

  override _final(done: () => void): void {
    this.child.stdin.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // The other machine notices that its input has ended; a client that is asked to end may wait for its server.
    this.child.kill('SIGKILL');
    for (const pipe of this.child.stdio) pipe?.destroy();
    done(error);
  }

  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    for (const part of [this.child, ...this.pipes]) part.ref();
    return this;
  }

  unref(): this {
    for (const part of [this.child, ...this.pipes]) part.unref();
    return this;
  }

  /** They are sockets, whatever their type says. */
  private get pipes(): Socket[] {
    return [this.child.stdin, this.child.stdout, this.child.stderr] as unknown as Socket[];
  }
}
