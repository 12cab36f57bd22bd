/** Commands in a sandbox, as envd keeps them: they go on when their client goes away, and another may listen in. */
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ExecProcess, Sandbox } from '../../sandbox/provider.js';
import { RpcError, type Answers } from './connect.js';

export interface ProcessConfig {
  readonly cmd: string;
  readonly args?: readonly string[];
  readonly envs?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

interface Size {
  readonly cols: number;
  readonly rows: number;
}

export interface StartRequest {
  readonly process?: ProcessConfig;
  readonly pty?: { readonly size?: Size };
  readonly tag?: string;
  readonly stdin?: boolean;
}

export interface Selector {
  readonly process?: { readonly pid?: number; readonly tag?: string };
}

/** Said in a stream while there is nothing else to say. */
export const PING = { event: { keepalive: {} } };

/** Says its own number before it becomes the command. The SDKs name bash for all of theirs; what has none has a shell all the same. */
const ANNOUNCE = `echo $$
if [ "$1" = /bin/bash ] && [ ! -x /bin/bash ]; then shift; exec /bin/sh "$@"; fi
exec "$@"`;

/** What was running when memory was copied, and goes on where it is brought back. Nobody hears what it writes. */
export interface Inherited {
  readonly pid: number;
  readonly request: StartRequest;
}

class Running implements Inherited {
  readonly listeners = new Set<Answers>();

  constructor(
    readonly pid: number,
    readonly request: StartRequest,
    readonly child: ExecProcess,
    readonly input: PassThrough | undefined,
  ) {}

  async tell(value: unknown): Promise<void> {
    for (const each of this.listeners) if (!each.open) this.listeners.delete(each);
    await Promise.all([...this.listeners].map((each) => each.send({ event: value })));
  }
}

export class Processes {
  private readonly running = new Map<number, Running>();
  private inherited: readonly Inherited[] = [];

  constructor(
    private readonly sandbox: () => Sandbox,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  async list(): Promise<unknown> {
    return { processes: (await this.all()).map(({ pid, request }) => ({ config: request.process, pid, tag: request.tag })) };
  }

  /** All that run, for whoever copies memory. */
  async all(): Promise<Inherited[]> {
    if (this.inherited.length > 0) {
      const alive = new Set((await this.ask(`for p in ${this.inherited.map(({ pid }) => pid).join(' ')}; do kill -0 $p && echo $p; done 2>/dev/null; :`)).split('\n').map(Number));
      this.inherited = this.inherited.filter(({ pid }) => alive.has(pid));
    }
    return [...this.inherited, ...[...this.running.values()].map(({ pid, request }) => ({ pid, request }))];
  }

  /** Where memory is brought back: these go on in it. */
  inherit(processes: readonly Inherited[]): void {
    this.inherited = processes;
  }

  /** Starts a command; `listen` is called once it is there. `timeoutMs`: then it is killed, 0 for never. */
  async start(request: StartRequest, timeoutMs: number, listen: () => Answers): Promise<void> {
    const { cmd, args = [], envs, cwd } = request.process ?? { cmd: '' };
    const size = request.pty?.size;
    const input = size || request.stdin ? new PassThrough() : undefined;
    const stop = new AbortController();
    const child = this.sandbox().exec(['/bin/sh', '-c', ANNOUNCE, 'sh', cmd, ...args], {
      env: { ...this.env, ...envs },
      cwd,
      stdin: input,
      tty: size && { columns: size.cols, rows: size.rows },
      // It is not its client's.
      lasting: !input,
      signal: stop.signal,
    });
    const first = await firstLine(child.stdout);
    if (first === undefined) {
      child.stderr.resume();
      const { code } = await child.exit.catch(() => ({ code: -1 }));
      throw new RpcError(code === 126 ? 'invalid_argument' : 'unavailable', code === 126 ? `cwd '${cwd}' does not exist` : 'the sandbox has ended');
    }
    const running = new Running(Number(first.line), request, child, input);
    this.running.set(running.pid, running);
    const answers = listen();
    running.listeners.add(answers);
    await answers.send({ event: { start: { pid: running.pid } } });
    const timer = timeoutMs > 0 ? setTimeout(() => stop.abort(new RpcError('deadline_exceeded', 'context deadline exceeded')), timeoutMs) : undefined;
    void this.serve(running, first.rest, size !== undefined).finally(() => clearTimeout(timer));
  }

  private async serve(running: Running, rest: Buffer, pty: boolean): Promise<void> {
    const { child, pid } = running;
    const pump = async (stream: Readable, name: 'stdout' | 'stderr' | 'pty', begin?: Buffer): Promise<void> => {
      if (begin?.length) await running.tell({ data: { [name]: begin.toString('base64') } });
      for await (const chunk of stream) await running.tell({ data: { [name]: (chunk as Buffer).toString('base64') } });
    };
    const pumped = Promise.all([pump(child.stdout, pty ? 'pty' : 'stdout', rest), pump(child.stderr, 'stderr')]).catch(() => undefined);
    let failure: RpcError | undefined;
    try {
      const { code } = await child.exit;
      await pumped;
      // envd tells a death by a signal apart; what this one runs on counts as a shell does.
      await running.tell({ end: { exitCode: code, exited: true, status: `exit status ${code}`, ...(code === 0 ? {} : { error: `exit status ${code}` }) } });
    } catch (error) {
      failure = error instanceof RpcError ? error : new RpcError('unavailable', 'the sandbox has ended');
    }
    this.running.delete(pid);
    // Whoever waits for room for more input waits for nothing.
    running.input?.destroy();
    for (const each of running.listeners) {
      if (failure?.code === 'unavailable') each.cut();
      else each.end(failure);
    }
  }

  async connect(request: Selector, listen: () => Answers): Promise<void> {
    const running = this.find(request);
    const answers = listen();
    running.listeners.add(answers);
    await answers.send({ event: { start: { pid: running.pid } } });
  }

  async input(request: Selector & { readonly input?: { readonly stdin?: string; readonly pty?: string } }): Promise<void> {
    const { input } = this.find(request);
    const data = request.input?.stdin ?? request.input?.pty;
    if (!input || input.writableEnded || data === undefined) throw new RpcError('invalid_argument', 'the process has no input');
    if (input.write(Buffer.from(data, 'base64'))) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        input.off('drain', done).off('close', done);
        resolve();
      };
      input.once('drain', done).once('close', done);
    });
  }

  closeInput(request: Selector): void {
    this.find(request).input?.end();
  }

  resize(request: Selector & { readonly pty?: { readonly size?: Size } }): void {
    const size = request.pty?.size;
    if (size) this.find(request).child.resize({ columns: size.cols, rows: size.rows });
  }

  /** To the process alone, as envd does: what it has started goes on. */
  async signal(request: Selector & { readonly signal?: string }): Promise<void> {
    const wanted = selects(request);
    const found = [...this.running.values()].find(wanted) ?? (await this.all()).find(wanted);
    if (!found) throw notFound(request);
    await this.ask(`kill -s ${request.signal === 'SIGNAL_SIGTERM' ? 'TERM' : 'KILL'} ${found.pid}`);
  }

  private async ask(script: string): Promise<string> {
    const child = this.sandbox().exec(['/bin/sh', '-c', script]);
    child.stderr.resume();
    const [said] = await Promise.all([text(child.stdout), child.exit]);
    return said;
  }

  private find(request: Selector): Running {
    const wanted = selects(request);
    const running = [...this.running.values()].find(wanted);
    if (running) return running;
    if (this.inherited.some(wanted)) throw new RpcError('unimplemented', 'the process goes on from a snapshot: it can be listed and killed here, and not be listened or written to');
    throw notFound(request);
  }
}

const selects = ({ process }: Selector) => ({ pid, request }: Inherited): boolean => (process?.tag === undefined ? pid === process?.pid : request.tag === process.tag);
const notFound = ({ process }: Selector): RpcError => new RpcError('not_found', `process with pid ${process?.pid} not found`);

/** Text up to the first line's end, and what came with it; undefined if the stream ends before. */
export function firstLine(stream: Readable): Promise<{ line: string; rest: Buffer } | undefined> {
  return new Promise((resolve) => {
    let read = Buffer.alloc(0);
    const look = (): void => {
      for (let chunk = stream.read() as Buffer | null; chunk !== null; chunk = stream.read() as Buffer | null) {
        read = Buffer.concat([read, chunk]);
        const end = read.indexOf('\n');
        if (end < 0) continue;
        finish({ line: read.subarray(0, end).toString().trim(), rest: read.subarray(end + 1) });
        return;
      }
    };
    const gone = (): void => finish(undefined);
    const finish = (found: { line: string; rest: Buffer } | undefined): void => {
      stream.off('readable', look).off('end', gone).off('close', gone);
      resolve(found);
    };
    stream.on('readable', look).once('end', gone).once('close', gone);
  });
}
