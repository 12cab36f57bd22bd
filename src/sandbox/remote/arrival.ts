/**
 * What a sandbox tells of itself before the first command in it begins, in a line ahead of that command's output: the mark that it has brought along, and the processes that
 * are its own. So it costs no request, and nothing that the command says is taken from a sandbox that is not of its snapshot.
 */
import { SandboxError } from '../errors.js';
import type { Listener } from './service.js';

/** Most bytes of the line: some thousand processes. */
const LONGEST = 128 << 10;

export class Arrival implements Listener {
  /** Its own processes, once they are told. Rejects if it is another sandbox than it should be, or does not say. */
  readonly told: Promise<string>;
  private settle!: { readonly resolve: (processes: string) => void; readonly reject: (reason: unknown) => void };
  private held: Buffer[] = [];
  private length = 0;
  /** Whether it was told. */
  over = false;

  constructor(
    private readonly output: Listener,
    /** Throws if it is not what is expected. */
    private readonly judge: (mark: string) => void,
  ) {
    this.told = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
    this.told.catch(() => undefined);
  }

  data(stream: 'stdout' | 'stderr', bytes: Buffer): boolean {
    if (this.over || stream === 'stderr') return this.output.data(stream, bytes);
    this.held.push(bytes);
    this.length += bytes.length;
    if (!bytes.includes(0x0a)) {
      if (this.length > LONGEST) this.fail(new SandboxError('the sandbox says too much before the first command in it'));
      return true;
    }
    const all = Buffer.concat(this.held);
    const end = all.indexOf(0x0a);
    const [mark = '', ...processes] = all.toString('latin1', 0, end).split(' ');
    try {
      this.judge(mark === '-' ? '' : mark);
    } catch (error) {
      this.fail(error);
      return true;
    }
    this.over = true;
    this.held = [];
    this.settle.resolve(` ${processes.join(' ')} `);
    return end + 1 < all.length ? this.output.data(stream, all.subarray(end + 1)) : true;
  }

  /** Nothing will be told any more; after it was, this does nothing. */
  fail(reason: unknown): void {
    this.settle.reject(reason);
  }
}
