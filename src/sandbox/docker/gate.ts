/** The host's side of a sandbox's first process: see GATE in `shell.ts`. */
import type Docker from 'dockerode';
import type { Duplex } from 'node:stream';
import { CommandOutput, type OutputConsumer } from '../marked/commandOutput.js';
import { within } from '../deadline.js';
import { FrameReader } from './frames.js';
import { MarkerScanner, newNonce } from '../marked/marker.js';
import { framed } from './shell.js';

const ANSWER_TIMEOUT_MS = 3000;

/** `open`: no command has been sent yet. `busy`: the first one runs. `idle`: it is over, the process only waits and can be told to kill. */
type State = 'open' | 'busy' | 'idle';

/** Of a first process that has had its first command: what the reports of that one begin with, and whether it still runs. */
export interface Past {
  readonly nonce: string;
  readonly busy: boolean;
}

export class Gate {
  state: State = 'open';
  private readonly reader: FrameReader;
  private first: CommandOutput | undefined;
  /** Of a copy: how long it lives. The copied process knows only of the life of the one before. */
  private seconds: number | undefined;

  constructor(
    private readonly container: Docker.Container,
    private readonly socket: Duplex,
  ) {
    this.reader = new FrameReader(socket, { data: () => true });
  }

  /** Attaches to a container: before its start, or while it waits for its first command. */
  static async attach(container: Docker.Container, signal: AbortSignal): Promise<Gate> {
    return new Gate(container, await attachTo(container, signal));
  }

  /** Takes over a process that was copied with its past, and gives it a life of its own. What its first command still writes is nobody's. */
  adopt({ nonce, busy }: Past, seconds: number): void {
    const first = new CommandOutput(nonce);
    first.stdout.destroy();
    first.stderr.destroy();
    first.release();
    this.first = first;
    this.state = busy ? 'busy' : 'idle';
    this.reader.consumer = first;
    void first.report.then(() => {
      this.state = 'idle';
    });
    this.seconds = seconds;
    this.setTimer();
  }

  /** What a copy of the process would have behind it. One that has had no command is sent none first, and waited for. */
  async past(signal: AbortSignal): Promise<Past> {
    if (this.state === 'open') {
      this.close();
      await within('Waiting for the first process', { signal }, ANSWER_TIMEOUT_MS, () => this.first!.report);
    }
    return { nonce: this.first!.nonce, busy: this.state === 'busy' };
  }

  /** Settles when the container has ended or the connection to it has. */
  get closed(): Promise<void> {
    return this.reader.closed;
  }

  /** Runs the first command, given as lines of shell. */
  run(text: string, output: CommandOutput): void {
    if (this.state !== 'open') throw new Error('the first command has been sent already');
    output.onWanted = () => this.reader.resume();
    this.reader.consumer = output;
    this.first = output;
    this.state = 'busy';
    void output.report.then(() => {
      this.state = 'idle';
    });
    this.socket.write(framed(text, output.nonce));
  }

  /** Sends no command as the first, so that the process begins to wait, and to collect the orphans of other commands. */
  close(): void {
    if (this.state !== 'open') return;
    const nothing = new CommandOutput(newNonce());
    nothing.release();
    this.run('', nothing);
  }

  /**
   * Kills all processes but the first, which does it itself when it waits. While it runs a command it has no ear, and `killInside` must: it says
   * whether it did. False if nothing of this came to its end in time.
   */
  async killAll(signal: AbortSignal, killInside: () => Promise<boolean>): Promise<boolean> {
    const { first } = this;
    if (first === undefined) return true;
    first.release();
    const busy = this.state === 'busy';
    try {
      if (busy && !(await killInside())) return false;
      await within('Killing processes', { signal }, ANSWER_TIMEOUT_MS, async (limit) => {
        if (busy) await first.report;
        else await this.killByFirst(first.nonce, limit);
      });
      return true;
    } catch {
      return false;
    }
  }

  private async killByFirst(nonce: string, signal: AbortSignal): Promise<void> {
    const acknowledged = new Promise<void>((resolve) => (this.reader.consumer = new Acknowledgement(nonce, resolve)));
    this.reader.resume();
    await this.container.kill({ signal: 'SIGUSR1', abortSignal: signal });
    await acknowledged;
    // Its timer was killed too, and the next one is as long as the first.
    this.setTimer();
  }

  private setTimer(): void {
    if (this.seconds !== undefined) this.socket.write(`${this.seconds}\n`);
  }

  destroy(): void {
    this.socket.destroy();
  }
}

class Acknowledgement implements OutputConsumer {
  private readonly scanner: MarkerScanner;

  constructor(
    nonce: string,
    private readonly seen: () => void,
  ) {
    this.scanner = new MarkerScanner(nonce);
  }

  data(stream: 'stdout' | 'stderr', piece: Buffer): boolean {
    if (stream === 'stdout') this.scanner.push(piece);
    if (this.scanner.found !== undefined) this.seen();
    return true;
  }
}

/** The client's own call sends its options as a body too, which Podman takes for the beginning of the input. */
function attachTo(container: Docker.Container, signal: AbortSignal): Promise<Duplex> {
  const modem = container.modem as { dial(request: object, done: (error: Error | null, socket: Duplex) => void): void };
  const options = { stream: true, stdin: true, stdout: true, stderr: true };
  const path = `/containers/${container.id}/attach?`;
  const request = { path, options, method: 'POST', isStream: true, hijack: true, file: Buffer.alloc(0), abortSignal: signal, statusCodes: { 200: true, 404: 'no such container', 500: 'server error' } };
  return new Promise((resolve, reject) => modem.dial(request, (error, socket) => (error ? reject(error) : resolve(socket))));
}
