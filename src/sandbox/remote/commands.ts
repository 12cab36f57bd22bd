/** What runs in a sandbox: commands, their deadlines, and the ways to kill them. */
import { constants } from 'node:os';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '../deadline.js';
import { CommandOutput } from '../marked/commandOutput.js';
import { newNonce } from '../marked/marker.js';
import { Interruption } from '../marked/interruption.js';
import { ExecTimeout, SandboxError, SandboxLost, Suspended, Unsupported } from '../errors.js';
import type { ExecOptions, ExecProcess, ExitStatus, OperationOptions, TerminalSize } from '../provider.js';
import type { End, Endpoint, RemoteProcess } from './service.js';
import { Arrival } from './arrival.js';
import { TerminalOutput } from './terminalOutput.js';
import { COOKIE, KILL_ALL, KILL_BY_COOKIE, ON_TERMINAL, WRAPPER, arrival as arrivalScript } from './shell.js';

const START_TIMEOUT_MS = 60_000;
const ARRIVAL_TIMEOUT_MS = 60_000;
/** How long who gives up the first command waits for what the sandbox tells before it: without that it cannot be used. */
const ARRIVAL_GRACE_MS = 5000;
const LOOK_TIMEOUT_MS = 15_000;
const KILL_TIMEOUT_MS = 60_000;
/** How long after its life a sandbox is waited for. */
const LIFE_GRACE_MS = 30_000;
/** How long a command that was killed has to be over. */
const AFTERMATH_TIMEOUT_MS = 5000;
/** How long after its input was refused the end of a command is waited for. */
const LAST_WORDS_MS = 2000;
/** Bytes of input in one request. */
const PIECE = 512 << 10;
const KILLED = 137;
const TERMINAL_TYPE = 'xterm-256color';

export interface Surroundings {
  readonly env: Readonly<Record<string, string>>;
  readonly workdir?: string;
  /** Bytes that a process may map; absent where the machine itself is no larger. */
  readonly memory?: number;
  readonly endsAt: number;
  /** What a snapshot has left in it; undefined if it is of none. */
  readonly mark?: string;
  /** What becomes of processes of which it may be a copy; false where it is none. */
  readonly copied: 'kept' | 'killed' | false;
  /** Name of the service. */
  readonly title: string;
}

type Output = CommandOutput | TerminalOutput;

/** What output is like. */
interface Shape {
  readonly bulk: boolean;
  /** Of a terminal, before and after it is there. */
  size?: TerminalSize;
  resize?: (size: TerminalSize) => void;
}

export class Commands {
  /** Processes that belong to the sandbox itself, once it has told them; absent until a first command is on its way there. */
  private arrived: Promise<string> | undefined;
  /** Resolves when it has ended, as far as has been noticed. */
  readonly ended: Promise<void>;
  private onEnded!: () => void;
  private lost: string | undefined;
  private readonly running = new Set<RemoteProcess>();
  /** While the sandbox is suspended, from the moment that this is asked for: whether it came to be. */
  private suspension: Promise<boolean> | undefined;

  constructor(
    private readonly endpoint: Endpoint,
    private readonly surroundings: Surroundings,
  ) {
    this.ended = new Promise((resolve) => (this.onEnded = resolve));
  }

  exec(argv: readonly string[], options: ExecOptions = {}): ExecProcess {
    return this.launch(argv, options, true);
  }

  /** The same of one whose output is a transfer. */
  send(argv: readonly string[], options: ExecOptions = {}): ExecProcess {
    return this.launch(argv, options, true, true);
  }

  /** `kills`: whether what is given up is killed; one that kills is not, which would never end. */
  private launch(argv: readonly string[], options: ExecOptions, kills: boolean, bulk = false): ExecProcess {
    const output = options.tty ? new TerminalOutput() : new CommandOutput(newNonce());
    const shape: Shape = { bulk, size: options.tty };
    const exit = this.run(argv, options, output, shape, kills).finally(() => output.end());
    // Whoever reads only the streams has not asked for it.
    exit.catch(() => undefined);
    return { stdout: output.stdout, stderr: output.stderr, exit, resize: (size) => shape.resize?.((shape.size = size)) };
  }

  /** Resolves with the processes of the sandbox itself. Rejects if it is none of its snapshot: then nothing is run in it. */
  arrive(): Promise<string> {
    if (this.arrived) return this.arrived;
    const { stdout, stderr, exit } = this.launch(['true'], {}, true);
    stdout.resume();
    stderr.resume();
    // One that cannot even be asked for rejects at once.
    return this.arrived ?? exit.then(() => '');
  }

  /** Runs a script of ours and gives what it printed. */
  async say(script: string, args: readonly string[], signal: AbortSignal, kills = true): Promise<string> {
    const { code, said, errors } = await this.hear(script, args, signal, kills);
    if (code !== 0) throw new SandboxError(`a script in the sandbox ended with exit code ${code}: ${errors.trim().slice(0, 500)}`);
    return said;
  }

  private async hear(script: string, args: readonly string[], signal: AbortSignal, kills: boolean): Promise<{ code: number; said: string; errors: string }> {
    await this.arrive();
    if (this.endpoint.say) {
      await this.awake();
      return this.endpoint.say(script, args, signal).catch(async (error: unknown) => Promise.reject(await this.explain(error, signal)));
    }
    const child = this.launch(['sh', '-c', script, 'sh', ...args], { signal }, kills);
    const [{ code }, said, errors] = await Promise.all([child.exit, text(child.stdout), text(child.stderr)]);
    return { code, said, errors };
  }

  /** All but the sandbox's own processes, and waits until none is left. */
  killAll(options?: OperationOptions): Promise<void> {
    return within('Killing what runs in the sandbox', options, KILL_TIMEOUT_MS, async (signal) => {
      // What is under way has to be read, or the processes could not end.
      if (!(await this.say(KILL_ALL, [await this.arrive()], signal)).includes('done')) throw new SandboxError('what runs in the sandbox could not be killed');
    });
  }

  /**
   * `save` has the service put all that runs on disk. Commands that are asked for meanwhile wait for how that goes; those under way reject with `Suspended`, and what they run is
   * saved with the rest. When it fails they go on.
   */
  async suspend(save: () => Promise<void>): Promise<void> {
    await this.awake();
    const saved = save();
    this.suspension = saved.then(() => true, () => false);
    await saved.catch((error: unknown) => {
      this.suspension = undefined;
      throw error;
    });
    for (const each of this.running) each.disconnect();
  }

  resume(): void {
    this.suspension = undefined;
  }

  /** The sandbox's own processes, where they are others than those that it told of at first. */
  own(processes: string): void {
    this.arrived = Promise.resolve(` ${processes.trim()} `);
  }

  /** Rejects unless commands can be run; waits while that is not known. */
  async awake(): Promise<void> {
    this.throwIfLost();
    while (this.suspension) if (await this.suspension) throw new Suspended();
    this.throwIfLost();
  }

  /** From now on commands are lost. */
  end(why: string): void {
    if (this.lost !== undefined) return;
    this.lost = why;
    this.onEnded();
    for (const each of this.running) each.disconnect();
  }

  private async run(argv: readonly string[], options: ExecOptions, output: Output, shape: Shape, kills: boolean): Promise<ExitStatus> {
    options.signal?.throwIfAborted();
    if (this.suspension) await this.awake();
    else this.throwIfLost();
    const { workdir, memory, endsAt } = this.surroundings;
    const env = { ...(shape.size && { TERM: TERMINAL_TYPE }), ...this.surroundings.env, ...options.env, [COOKIE]: newNonce() };
    check(argv, env);
    const limits = [options.cwd ?? workdir ?? '', memory === undefined ? '' : String(Math.max(1, memory >> 10))];
    const first = this.arrived === undefined && output instanceof CommandOutput ? this.begin(output) : undefined;
    const interruption = new Interruption(options, endsAt + LIFE_GRACE_MS);
    const stop = new AbortController();
    let process: RemoteProcess | undefined;
    try {
      const early = first ? undefined : await Promise.race([this.arrive().then(() => undefined), interruption.happened]);
      if (early !== undefined) throw this.reasonFor(early, options);
      // What ends the wait for the first command does not end that for what comes before it.
      const interrupted = first ? interruption.happened.then(async (what) => (await this.patience(first), what)) : interruption.happened;
      const starting = within('Starting a command', { signal: stop.signal }, START_TIMEOUT_MS, (signal) => this.endpoint.start({ argv: wrapped(argv, limits, output, first && this.surroundings), env, stdin: options.stdin !== undefined, size: shape.size, bulk: shape.bulk }, first ?? output, signal));
      const begun = await Promise.race([starting, interrupted]);
      // One that was given up may have begun all the same.
      if (typeof begun === 'string') void starting.then((late) => late.disconnect()).catch(() => undefined);
      else {
        process = begun;
        this.running.add(process);
        this.throwIfLost();
        output.onWanted = () => begun.resume();
        shape.resize = (size) => void begun.resize(size, AbortSignal.timeout(LOOK_TIMEOUT_MS)).catch(() => undefined);
        if (shape.size && shape.size !== options.tty) shape.resize(shape.size);
      }
      const ending = typeof begun === 'string' ? begun : await Promise.race([output.report, begun.closed.then((end) => ({ end })), interrupted, this.feed(begun, options.stdin, output, stop.signal), ...(first ? [this.arrived!.then(() => new Promise<never>(() => undefined))] : [])]);
      if (typeof ending === 'object') {
        first?.fail(process!.broken ?? new SandboxError(`the sandbox could not be made ready${'end' in ending && ending.end ? `: exit code ${exitCodeOf(ending.end)}` : ''}`));
        await this.arrived;
        return { code: 'code' in ending ? ending.code : codeOf(process!, ending.end) };
      }
      if (this.lost === undefined && kills) await this.kill(env[COOKIE], output, process);
      throw this.reasonFor(ending, options);
    } catch (error) {
      if (first && !first.over) {
        // Nothing is asked of the sandbox any more: it is as good as gone.
        const meant = await this.explain(error, options.signal);
        first.fail(meant);
        throw meant;
      }
      // A command whose input broke, or whose start was not answered, may run.
      if (this.lost === undefined && kills && !(await this.suspension) && !(error instanceof SandboxError) && error !== options.signal?.reason && !(this.endpoint.translate(error, '') instanceof SandboxLost)) await this.kill(env[COOKIE], output, process).catch(() => undefined);
      throw await this.explain(error, options.signal);
    } finally {
      interruption.clear();
      stop.abort(new Error('the command is over'));
      if (options.stdin instanceof Readable) options.stdin.destroy();
      if (process) {
        this.running.delete(process);
        process.leave();
      }
    }
  }

  /** What the first command says goes through it. */
  private begin(output: CommandOutput): Arrival {
    const { mark, copied, title } = this.surroundings;
    const first = new Arrival(output, (brought) => {
      if (mark !== undefined && brought !== mark) throw new SandboxError(copied === 'kept' ? `${title} has not brought back what ran in the sandbox of the snapshot` : `${title} has started the sandbox anew instead of from its snapshot`);
    });
    this.arrived = within('Restoring the sandbox', undefined, ARRIVAL_TIMEOUT_MS, () => first.told);
    this.arrived.catch(() => undefined);
    return first;
  }

  private async patience(first: Arrival): Promise<void> {
    const stop = new AbortController();
    await Promise.race([this.arrived!.catch(() => undefined), pause(ARRIVAL_GRACE_MS, undefined, { signal: stop.signal }).catch(() => undefined)]);
    stop.abort();
    first.fail(new SandboxError('the sandbox did not say that it is there before its first command was given up'));
  }

  private reasonFor(interruption: 'timeout' | 'aborted' | 'expired', { timeoutMs, signal }: ExecOptions): unknown {
    if (interruption === 'timeout') return new ExecTimeout(timeoutMs!);
    return interruption === 'expired' ? new SandboxLost('the sandbox outlived its life and does not answer') : signal!.reason;
  }

  /** Never resolves: the input's end is not the command's. Rejects if the source breaks, or the way to the command. */
  private async feed(process: RemoteProcess, stdin: ExecOptions['stdin'], output: Output, signal: AbortSignal): Promise<never> {
    const never = new Promise<never>(() => undefined);
    if (stdin === undefined) return never;
    const { closed } = process;
    const source = stdin instanceof Readable ? stdin : [Buffer.from(stdin as Uint8Array)];
    let over = false;
    void Promise.race([closed, output.report]).then(() => (over = true));
    try {
      for await (const chunk of source) {
        const bytes = Buffer.from(chunk as Uint8Array);
        for (let at = 0; at < bytes.length && !over; at += PIECE) await process.input(bytes.subarray(at, at + PIECE), signal);
        if (over) return await never;
      }
      if (output instanceof CommandOutput) await process.closeInput(signal);
    } catch (error) {
      if (stdin instanceof Readable && stdin.errored) throw stdin.errored;
      // A command may end without having read its input; the service may refuse more of it before it tells the end.
      await Promise.race([closed, output.report, pause(LAST_WORDS_MS, undefined, { signal }).catch(() => undefined)]);
      if (!signal.aborted && !over) throw error;
    }
    return never;
  }

  /** Kills a command with all that it started, daemons too, and waits until it is over. */
  private async kill(cookie: string, output: Output, process: RemoteProcess | undefined): Promise<void> {
    output.release();
    await within('Killing a command', undefined, KILL_TIMEOUT_MS, (signal) => this.say(KILL_BY_COOKIE, [`${COOKIE}=${cookie}`], signal, false));
    if (process) await within('Ending a command', undefined, AFTERMATH_TIMEOUT_MS, () => process.closed).catch(() => undefined);
  }

  /** Why a command could not be run to its end: its sandbox is gone, or only the way to it. */
  private async explain(error: unknown, outer: AbortSignal | undefined): Promise<unknown> {
    if (outer?.aborted && error === outer.reason) return error;
    if (await this.suspension) return new Suspended();
    if (this.lost !== undefined) return new SandboxLost(this.lost, { cause: error });
    if (error instanceof SandboxError) return error;
    const there = await within('Looking for the sandbox', undefined, LOOK_TIMEOUT_MS, (signal) => this.endpoint.answers(signal)).catch(() => undefined);
    if (there === false) this.end('the sandbox has ended');
    if (this.lost !== undefined) return new SandboxLost(this.lost, { cause: error });
    return this.endpoint.translate(error, 'Running a command');
  }

  private throwIfLost(): void {
    if (this.lost !== undefined) throw new SandboxLost(this.lost);
  }
}

/** A command with what is done around it inside; `arriving` if it is the first. */
function wrapped(argv: readonly string[], limits: readonly string[], output: Output, arriving: Surroundings | undefined): readonly string[] {
  if (output instanceof TerminalOutput) return ['/bin/sh', '-c', ON_TERMINAL, 'sh', ...limits, ...argv];
  const script = arriving ? [`${arrivalScript(arriving.copied)}${WRAPPER}`, 'sh', arriving.mark ?? ''] : [WRAPPER, 'sh'];
  return ['/bin/sh', '-c', ...script, output.nonce.slice(0, 16), output.nonce.slice(16), ...limits, ...argv];
}

/** A connection ended and the command did not say how. */
function codeOf(process: RemoteProcess, end: End | undefined): number {
  if (end) return exitCodeOf(end);
  throw process.broken ?? new Error('the connection ended before the command did');
}

/** @throws Unsupported for what no command can be given */
function check(argv: readonly string[], env: Readonly<Record<string, string>>): void {
  if (argv.length === 0) throw new Unsupported('there is no command to run');
  for (const name of Object.keys(env)) if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new Unsupported(`"${name}" is no name of an environment variable`);
  if ([...argv, ...Object.values(env)].some((word) => word.includes('\0'))) throw new Unsupported('an argument or a value of the environment holds a NUL character, which no command can be given');
}

/** Go's words for signals, as Linux has them. */
const SIGNALS: Readonly<Record<string, keyof typeof constants.signals>> = { hangup: 'SIGHUP', interrupt: 'SIGINT', quit: 'SIGQUIT', aborted: 'SIGABRT', killed: 'SIGKILL', 'segmentation fault': 'SIGSEGV', 'broken pipe': 'SIGPIPE', terminated: 'SIGTERM' };

/** An exit code as a shell counts it. */
export function exitCodeOf({ exitCode = 0, exited, status = '' }: End): number {
  const signal = /^signal: ([a-z ]+?)(?: \(core dumped\))?$/.exec(status)?.[1];
  if (signal !== undefined) return 128 + (constants.signals[SIGNALS[signal] ?? 'SIGKILL'] ?? 9);
  return exitCode < 0 && !exited ? KILLED : exitCode & 255;
}
