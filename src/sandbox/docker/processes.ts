/** What runs in a container: commands, their deadlines, and the ways to kill them. */
import type Docker from 'dockerode';
import { Readable, type Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { ExecTimeout, LimitExceeded, SandboxError, SandboxLost, Suspended, Unsupported } from '../errors.js';
import type { ExecOptions, ExecProcess, ExitStatus, OperationOptions, SandboxSpec, TerminalSize } from '../provider.js';
import { CommandOutput, type Report } from '../marked/commandOutput.js';
import { within } from '../deadline.js';
import type { Engine } from './engine.js';
import { Gate, type Past } from './gate.js';
import { ask, startCommand } from './inside.js';
import { Interruption } from '../marked/interruption.js';
import { newNonce } from '../marked/marker.js';
import { listOf, Outlet } from '../network/outlet.js';
import { RELAY_ARGUMENTS } from '../network/relayPrograms.js';
import { startRelay } from './outlet.js';
import { becoming, COOKIE, FROM_OUTSIDE, HOLDING_OUTSIDE, KILL_ALL, KILL_BY_COOKIE, preparation, type Command } from './shell.js';
import { Screen, startOnTerminal } from './terminal.js';

/** Longest first command, in characters, that goes through the gate, whose shell reads it byte by byte. */
const MOST_FOR_GATE = 16 << 10;
const START_TIMEOUT_MS = 60_000;
const INSPECT_TIMEOUT_MS = 10_000;
const KILL_TIMEOUT_MS = 60_000;
/** How long a kill from inside may take: a fork bomb leaves it little room. */
const KILL_INSIDE_TIMEOUT_MS = 4000;
/** How long a command that was killed has to be over. */
const AFTERMATH_TIMEOUT_MS = 5000;
/** How long commands are waited for that may be over soon, and how often that is looked at. */
const SETTLE_TIMEOUT_MS = 2000;
const SETTLE_POLL_MS = 20;
/** How long after its life a sandbox is waited for. */
const LIFE_GRACE_MS = 30_000;
const KILLED = 137;

/** Stands among the cookies for all that ran in a sandbox when it was copied. */
const INHERITED = 'inherited';

/** A command under way, whichever way it runs. */
interface Running {
  /** Settles when its connection has ended. */
  readonly closed: Promise<void>;
  /** Rejects if its input could not be read. */
  readonly inputFailed: Promise<never>;
  /** Exit code after the connection ended without a report; undefined if it cannot be known. */
  exitCode(): Promise<number | undefined>;
  close(): void;
}

/** A terminal's size before and after it is there. */
interface Shape {
  size: TerminalSize;
  resize?: (size: TerminalSize) => void;
}

/** What programs on a terminal are told that it understands, unless their environment says otherwise. */
const TERMINAL_TYPE = 'xterm-256color';

export class Processes {
  /** `ending` by us; `over` because the connection to it is. */
  private ending = false;
  private over = false;
  /** Resolves when it is over, for whatever reason. */
  readonly ended: Promise<void>;
  private onEnded!: () => void;
  private readonly endsAt: number;
  /** Cookies of the commands since everything was killed last. Where there is only one, killing it is killing all. */
  private readonly started = new Set<string>();
  /** The container's first process is another one after each restart, and no command has survived it. */
  private restarts = 0;
  private memoryKills = 0;
  /** While the processes are put on disk, and as long as they are there: whether they are. */
  private suspension: Promise<boolean> | undefined;
  /** Commands under way that a suspension would end: all but those that belong to the sandbox. */
  private outside = 0;
  private killing: Promise<unknown> = Promise.resolve();
  /** The way out of a sandbox with a list of allowed hosts. */
  private readonly outlet: Outlet | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly container: Docker.Container,
    /** The container's first process; another one after a restart. */
    private gate: Gate,
    private readonly spec: SandboxSpec,
    /** Whether something may run in it that was not started from here. */
    inherits: boolean,
  ) {
    if (inherits) this.started.add(INHERITED);
    this.endsAt = Date.now() + spec.lifetimeMs;
    this.ended = new Promise((resolve) => (this.onEnded = resolve));
    const list = listOf(spec.network);
    this.outlet = list && new Outlet({ list, onRequest: spec.onNetwork, start: () => startRelay((argv, options) => this.begin(argv, options, undefined)) });
    void this.ended.then(() => this.outlet?.close());
    this.watch();
  }

  /** Resolves when commands find all that they need. */
  async ready(): Promise<void> {
    await this.outlet?.ready();
  }

  exec(argv: readonly string[], options: ExecOptions = {}): ExecProcess {
    return this.begin(argv, options, this.outlet);
  }

  private begin(argv: readonly string[], options: ExecOptions, outlet: Outlet | undefined): ExecProcess {
    const output = options.tty ? new Screen(newNonce()) : new CommandOutput(newNonce());
    const shape: Shape | undefined = options.tty && { size: options.tty };
    const exit = this.run(argv, options, output, shape, outlet).finally(() => output.end());
    // Whoever reads only the streams has not asked for it.
    exit.catch(() => undefined);
    const resize = (size: TerminalSize): void => {
      if (!shape) return;
      shape.size = size;
      shape.resize?.(size);
    };
    return { stdout: output.stdout, stderr: output.stderr, exit, resize };
  }

  async killAll(options?: OperationOptions): Promise<void> {
    await this.present();
    // Nothing has ever run.
    if (this.gate.state === 'open') return;
    await this.engine.call('Killing what runs in the sandbox', options, KILL_TIMEOUT_MS, (_, signal) => this.killEverything(signal));
  }

  /** What a copy of the sandbox's first process would have behind it. Rejects with `Unsupported` if a copy would lack what runs. */
  async past(signal: AbortSignal): Promise<Past> {
    await this.present();
    return this.pastNow(signal);
  }

  private async pastNow(signal: AbortSignal): Promise<Past> {
    const past = await this.gate.past(signal);
    // A copy starts a relay of its own.
    const left = (await ask(this.container, this.spec.isolation === 'gvisor' ? HOLDING_OUTSIDE : FROM_OUTSIDE, [], signal)).split('\n').map((line) => line.trim()).filter((line) => line !== '' && !(this.outlet && line.endsWith(RELAY_ARGUMENTS.join(' '))));
    if (left.length === 0) return past;
    const names = left.slice(0, 3).map((line) => `\`${line.replaceAll(/[\p{C}\s]+/gu, ' ').slice(0, 80)}\``).join(', ');
    throw new Unsupported(`commands that were started from outside still run, and would not be saved: ${names}${left.length > 3 ? ` and ${left.length - 3} more` : ''}; end them, or start in the background what shall go on (\`setsid COMMAND >/tmp/log 2>&1 </dev/null &\`)`);
  }

  /**
   * `save` puts the container's processes on disk and ends them. Commands that are asked for meanwhile wait for how that goes; what is under way, with its connection, rejects with
   * `Suspended`. If the processes still run after `save` has failed they go on. Rejects with `Unsupported` while something runs that would not be saved.
   */
  async suspend(signal: AbortSignal, save: (past: Past) => Promise<void>): Promise<void> {
    await this.present();
    if (this.suspension) throw new Suspended();
    const saved = this.saveWhole(signal, save);
    this.suspension = saved.then(() => true, () => false);
    await saved.catch((error: unknown) => {
      this.suspension = undefined;
      throw error;
    });
    this.gate.destroy();
  }

  private async saveWhole(signal: AbortSignal, save: (past: Past) => Promise<void>): Promise<void> {
    // Those who only look into the sandbox now and then are over soon.
    for (const until = performance.now() + SETTLE_TIMEOUT_MS; this.outside > 0 && performance.now() < until; ) await pause(SETTLE_POLL_MS, undefined, { signal });
    const past = await this.pastNow(signal);
    if (this.outside > 0) throw new Unsupported('a command is just being started or ended in the sandbox; try again when it is over');
    signal.throwIfAborted();
    await save(past);
  }

  /** The processes run again behind a connection of their own: what they had behind them when they were suspended is `past`. */
  resume(gate: Gate, past: Past): void {
    this.suspension = undefined;
    this.restarts++;
    this.started.add(INHERITED);
    this.gate = gate;
    gate.adopt(past, Math.max(1, Math.ceil((this.endsAt - Date.now()) / 1000)));
    this.watch();
  }

  /** Rejects unless the processes run. */
  private async present(): Promise<void> {
    if (this.ending) await this.gone();
    if (await this.suspension) throw new Suspended();
    if (this.over) await this.gone();
  }

  /** From now on commands are lost. */
  end(): void {
    this.ending = true;
    this.outlet?.close();
  }

  disconnect(): void {
    this.gate.destroy();
  }

  private async run(argv: readonly string[], options: ExecOptions, output: CommandOutput | Screen, shape: Shape | undefined, outlet: Outlet | undefined): Promise<ExitStatus> {
    options.signal?.throwIfAborted();
    // Whoever comes while it is being suspended waits for the outcome.
    do await this.present();
    while (this.suspension);
    if (argv.length === 0) throw new Unsupported('there is no command to run');
    // The relay is started again by itself.
    const inside = this.enter(outlet === this.outlet);
    // A relay that the sandbox's own programs have killed is there again for the next one; where they are in its way the sandbox has no network, which is no failure of ours.
    await outlet?.ready().catch(() => undefined);
    const env = { ...(shape && { TERM: TERMINAL_TYPE }), ...this.spec.env, ...options.env };
    const command = { argv, env, cwd: options.cwd, stdin: shape !== undefined || options.stdin !== undefined, lasting: options.lasting, cookie: newNonce() };
    const interruption = new Interruption(options, this.endsAt + LIFE_GRACE_MS);
    const { restarts } = this;
    this.started.add(command.cookie);
    let running: Running | undefined;
    try {
      running = await this.start(command, options.stdin, output, shape, inside);
      if (options.lasting) inside();
      const ending = await Promise.race([output.report, running.closed.then(() => 'closed' as const), interruption.happened, running.inputFailed]);
      if (ending === 'closed') return { code: await this.codeWithoutReport(running, restarts) };
      if (typeof ending === 'object') return this.status(ending);
      await this.kill(command.cookie, output, running.closed);
      if (ending === 'timeout') throw new ExecTimeout(options.timeoutMs!);
      if (ending === 'expired') throw new SandboxLost('the sandbox outlived its life and does not answer');
      throw options.signal!.reason;
    } catch (error) {
      if (running && !(error instanceof SandboxError) && error !== options.signal?.reason) await this.kill(command.cookie, output, running.closed);
      throw error;
    } finally {
      inside();
      interruption.clear();
      running?.close();
    }
  }

  /** Counts a command as one from outside until what is returned is called: when it is over, or turns out to belong to the sandbox. */
  private enter(counts: boolean): () => void {
    if (!counts) return () => undefined;
    this.outside++;
    let left = false;
    return () => {
      if (!left) this.outside--;
      left = true;
    };
  }

  /** The first command goes through the gate, which takes no request to the engine; all others are execs. */
  private async start(command: Command, stdin: ExecOptions['stdin'], output: CommandOutput | Screen, shape: Shape | undefined, inside: () => void): Promise<Running> {
    if (output instanceof Screen) return this.startOnTerminal(command, stdin, output, shape!);
    const text = preparation(command) + becoming(command);
    const never = new Promise<never>(() => undefined);
    if (this.gate.state === 'open' && stdin === undefined && text.length <= MOST_FOR_GATE) {
      this.gate.run(text, output);
      inside();
      return { closed: this.gate.closed, inputFailed: never, exitCode: () => Promise.resolve(undefined), close: () => undefined };
    }
    this.gate.close();
    const { exec, socket, closed } = await this.engine.call('Starting a command', undefined, START_TIMEOUT_MS, (_, signal) => startCommand(this.container, command, output, signal));
    const running = this.underway(exec, socket, closed, stdin, true);
    if (stdin === undefined || !(stdin instanceof Readable)) socket.end(stdin);
    return running;
  }

  private async startOnTerminal(command: Command, stdin: ExecOptions['stdin'], screen: Screen, shape: Shape): Promise<Running> {
    this.gate.close();
    const { exec, socket, closed, resize } = await this.engine.call('Opening a terminal', undefined, START_TIMEOUT_MS, (_, signal) => startOnTerminal(this.container, command, screen, shape.size, signal));
    shape.resize = resize;
    const running = this.underway(exec, socket, closed, stdin, false);
    if (stdin !== undefined && !(stdin instanceof Readable)) socket.write(stdin);
    return running;
  }

  /** `ends`: whether the end of the input ends the command's. */
  private underway(exec: Docker.Exec, socket: Duplex, closed: Promise<void>, stdin: ExecOptions['stdin'], ends: boolean): Running {
    const source = stdin instanceof Readable ? stdin : undefined;
    const never = new Promise<never>(() => undefined);
    const inputFailed = source ? new Promise<never>((_, reject) => source.once('error', reject)) : never;
    inputFailed.catch(() => undefined);
    source?.pipe(socket, { end: ends });
    return {
      closed,
      inputFailed,
      exitCode: async () => {
        for (let patience = 20; ; patience--) {
          const { Running: runs, ExitCode: code } = await exec.inspect();
          if (!runs) return code ?? undefined;
          if (patience === 0) return undefined;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      },
      close: () => {
        source?.unpipe(socket);
        source?.destroy();
        socket.destroy();
      },
    };
  }

  private status({ code, memoryKills }: Report): ExitStatus {
    const killedBy = code === KILLED && memoryKills !== undefined && memoryKills > this.memoryKills ? 'memory' : undefined;
    this.memoryKills = memoryKills ?? this.memoryKills;
    return killedBy ? { code, killedBy } : { code };
  }

  /** A connection ended and the command did not say how: its shell was killed, or the sandbox is gone, or the engine. */
  private async codeWithoutReport(running: Running, restarts: number): Promise<number> {
    if (await this.suspension) throw new Suspended();
    if (this.restarts !== restarts) return KILLED;
    const code = await this.ifThere(() => running.exitCode());
    if (this.restarts !== restarts) return KILLED;
    return code ?? this.gone();
  }

  /** Always rejects: with `ProviderUnavailable` if the engine does not answer, with `LimitExceeded` if all of it was killed for its memory, else with `SandboxLost`. */
  private async gone(): Promise<never> {
    await this.ifThere(() => Promise.resolve(undefined));
    if (!this.ending && this.spec.isolation === 'gvisor' && (await this.killedForMemory())) {
      throw new LimitExceeded('the sandbox was killed for using more than its memory limit: as a whole, since gVisor holds the memory of all its processes');
    }
    throw new SandboxLost(this.ending ? 'the sandbox was terminated' : 'the sandbox has ended, or the connection to it has');
  }

  /** The container is gone, and the engine remembers why. */
  private killedForMemory(): Promise<boolean> {
    return this.engine.call('Looking for the end of the sandbox', undefined, INSPECT_TIMEOUT_MS, async (docker, signal) => {
      const filters = { container: [this.container.id], event: ['oom'] };
      const events = await docker.getEvents({ since: 1, until: Math.ceil(Date.now() / 1000), filters, abortSignal: signal } as Docker.GetEventsOptions);
      return (await text(events)).includes(this.container.id);
    });
  }

  /** What `ask` gives if the container runs. Rejects as the engine's answers have it. */
  private ifThere<T>(ask: () => Promise<T>): Promise<T | undefined> {
    if (this.ending) return Promise.resolve(undefined);
    return this.engine.call('Looking for the sandbox', undefined, INSPECT_TIMEOUT_MS, async (_, signal) => {
      const { State } = await this.container.inspect({ abortSignal: signal });
      return State.Running ? ask() : undefined;
    }).catch((error: unknown) => {
      if (error instanceof SandboxLost) return undefined;
      throw error;
    });
  }

  /** Kills a command with all that it started, daemons too, and waits until it is over. */
  private async kill(cookie: string, output: CommandOutput | Screen, closed: Promise<void>): Promise<void> {
    // What is under way has to be read, or the processes could not end.
    output.release();
    if (this.ending || this.over) return;
    await this.engine.call('Killing a command', undefined, KILL_TIMEOUT_MS, async (_, signal) => {
      // Everything was killed since it began, and it with it.
      if (!this.started.has(cookie)) return;
      if (this.started.size > 1 && (await this.killInside(KILL_BY_COOKIE, [`${COOKIE}=${cookie}`], signal))) return;
      await this.killEverything(signal);
    });
    const ended = Promise.race([output.report, closed]);
    await within('Ending a command', undefined, AFTERMATH_TIMEOUT_MS, () => ended as Promise<unknown>).catch(() => undefined);
  }

  /** One at a time: each waits for an answer of the same process. */
  private killEverything(signal: AbortSignal): Promise<void> {
    const turn = this.killing.then(() => this.killEverythingNow(signal));
    this.killing = turn.catch(() => undefined);
    return turn;
  }

  private async killEverythingNow(signal: AbortSignal): Promise<void> {
    const victims = [...this.started];
    if (!(await this.gate.killAll(signal, () => this.killInside(KILL_ALL, [], signal)))) {
      signal.throwIfAborted();
      await this.restart(signal);
    }
    for (const cookie of victims) this.started.delete(cookie);
  }

  /** Runs a script that kills, as an exec; whether it came to its end in time. */
  private killInside(script: string, args: readonly string[], signal: AbortSignal): Promise<boolean> {
    return within('Killing processes', { signal }, KILL_INSIDE_TIMEOUT_MS, (limit) => ask(this.container, script, args, limit)).then(
      (said) => said.includes('done'),
      () => false,
    );
  }

  /** The last resort: the kernel kills everything with the container's first process; files stay. */
  private async restart(signal: AbortSignal): Promise<void> {
    this.restarts++;
    await this.container.restart({ t: 0, abortSignal: signal } as object);
    this.gate.destroy();
    this.gate = await Gate.attach(this.container, signal);
    this.memoryKills = 0;
    this.watch();
  }

  /** Notices the sandbox's end. */
  private watch(): void {
    const { restarts } = this;
    void this.gate.closed.then(async () => {
      if ((await this.suspension) || this.restarts !== restarts) return;
      this.over = true;
      this.onEnded();
    });
  }
}
