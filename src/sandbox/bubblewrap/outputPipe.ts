/** The host's end of a pipe that commands write to, one command after another. */
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

/** The most that a pipe can hold (`/proc/sys/fs/pipe-max-size` of an ordinary user): more than this after a command's end is not its own. */
const PIPE_CAPACITY = 1 << 20;

/** A command's output. It exists before the pipe does, since the pipe is chosen later. */
export class CommandOutput extends Readable {
  /** Called when the reader wants more, or has gone away. */
  onWanted = (): void => undefined;

  /** Whether a pipe has taken it over, which will end it. */
  served = false;
  private ended = false;

  /** Takes a piece; false if the reader wants no more for now. */
  deliver(chunk: Buffer): boolean {
    return this.ended || this.destroyed || this.push(chunk);
  }

  end(): void {
    if (!this.ended && !this.destroyed) this.push(null);
    this.ended = true;
  }

  override _read(): void {
    this.onWanted();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // Whoever goes away early is not told what comes later, and must not hold the command up.
    this.onWanted();
    callback(error);
  }
}

export class OutputPipe {
  private readonly socket: Socket;
  private output: CommandOutput | undefined;
  private seen = 0;

  /** Takes over the descriptor, from which it reads until `destroy`. What comes while no command is served is dropped. */
  constructor(fd: number) {
    this.socket = new Socket({ fd, readable: true, writable: false });
    this.socket.on('data', (chunk: Buffer) => {
      this.seen += chunk.length;
      if (this.output && !this.output.deliver(chunk)) this.socket.pause();
    });
    this.socket.on('error', () => undefined);
  }

  /** Whether a command's output is still being read. */
  get serving(): boolean {
    return this.output !== undefined;
  }

  get destroyed(): boolean {
    return this.socket.destroyed;
  }

  /** From here on what comes goes to `output`. */
  serve(output: CommandOutput): void {
    this.output = output;
    output.served = true;
    output.onWanted = () => {
      if (this.output === output) this.socket.resume();
    };
    if (output.destroyed) this.socket.resume();
  }

  /** From here on what comes is dropped. */
  drop(): void {
    this.output = undefined;
    this.socket.resume();
  }

  /**
   * Gives the command, which has ended, everything that it wrote, then ends its output. All of it is in the pipe by now. One round of the event
   * loop reads the pipe empty unless the reader has asked to wait; what children in the background write later is dropped.
   * Resolves at once with false if the reader keeps it waiting, and calls `later` when that is over.
   */
  async finish(later: () => void): Promise<boolean> {
    const output = this.output;
    if (!output || (await this.drained(output))) return true;
    void this.drainSlowly(output).then(later);
    return false;
  }

  /** Reads the pipe empty; false if the reader keeps it waiting or more came than can have been in it. */
  private async drained(output: CommandOutput): Promise<boolean> {
    for (let late = 0; late <= PIPE_CAPACITY; ) {
      const before = this.seen;
      // The first immediate runs in this round; the second one has a whole round of reading before it.
      await turn();
      await turn();
      if (this.output !== output) return true;
      if (!output.destroyed && this.socket.isPaused()) return false;
      if (this.seen === before || this.socket.destroyed || output.destroyed) break;
      late += this.seen - before;
    }
    this.drop();
    output.end();
    return true;
  }

  private async drainSlowly(output: CommandOutput): Promise<void> {
    do await this.wanted(output);
    while (!(await this.drained(output)));
  }

  /** Ends the output of a command that has none to expect any more, whether it was read or not. */
  cut(): void {
    this.output?.end();
    this.drop();
  }

  /** Whether the process is to stay for this. */
  hold(yes: boolean): void {
    if (yes) this.socket.ref();
    else this.socket.unref();
  }

  destroy(): void {
    this.cut();
    this.socket.destroy();
  }

  private wanted(output: CommandOutput): Promise<void> {
    return new Promise((resolve) => {
      const resume = output.onWanted;
      const go = (): void => {
        output.onWanted = resume;
        this.socket.off('close', go);
        resume();
        resolve();
      };
      output.onWanted = go;
      this.socket.once('close', go);
      if (output.destroyed || this.socket.destroyed || !this.socket.isPaused()) go();
    });
  }
}
