/** Runs commands in a started sandbox: through the gate where the sandbox is empty, by joining it otherwise. */
import { setTimeout as pause } from 'node:timers/promises';
import { SandboxLost } from '../errors.js';
import type { ExecOptions, ExecProcess, ExitStatus, TerminalSize } from '../provider.js';
import type { Group } from './cgroups.js';
import type { Fifos } from './fifos.js';
import type { Gate } from './gate.js';
import { Interruption } from './interruption.js';
import { join, killAllFromOutside, type Joined, type Target } from './joined.js';
import { CommandOutput, type OutputPipe } from './outputPipe.js';
import { PATIENCE_MS, children, descendants, kill, killDescendants, living, processState, stays } from './processes.js';
import { becoming } from './shell.js';
import { joinOnTerminal } from './terminal.js';

/** Exit code of a command that was killed. */
const KILLED = 137;

/** What programs on a terminal are told that it understands, unless their environment says otherwise. */
const TERMINAL_TYPE = 'xterm-256color';

/** A terminal's size before and after it is there. */
interface Screen {
  size: TerminalSize;
  resize?: (size: TerminalSize) => void;
}

export interface CommandsParts {
  readonly target: Target;
  readonly gate: Gate;
  /** What the gate's commands write to. */
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
  readonly fifos: Fifos;
  readonly group: Group;
  /** How many processes the memory limit had killed in the group before. */
  readonly oomKills: number;
  /** Lines that set up what a joined command does not get from the gate: environment and folder. */
  readonly surroundings: string;
}

export class Commands {
  /** Whether a command runs on the gate or is about to. */
  private onGate: Promise<unknown> | undefined;
  /** Nothing has been run since the start or since everything was killed. */
  private empty = true;
  /** Whether what the gate's last command wrote has been read. */
  private read: Promise<boolean> = Promise.resolve(true);
  private readonly joined = new Set<Joined>();
  private readonly running = new Set<Interruption>();
  private over = false;
  private oomKills: number;

  constructor(private readonly parts: CommandsParts) {
    this.oomKills = parts.oomKills;
  }

  exec(argv: readonly string[], options: ExecOptions): ExecProcess {
    const outputs = [new CommandOutput(), new CommandOutput()] as const;
    const screen: Screen | undefined = options.tty && { size: options.tty };
    const exit = this.run(argv, options, outputs, screen);
    exit.catch(() => undefined);
    const resize = (size: TerminalSize): void => {
      if (!screen) return;
      screen.size = size;
      screen.resize?.(size);
    };
    return { stdout: outputs[0], stderr: outputs[1], exit, resize };
  }

  /** Processes outside that are about to be, or are, in the sandbox. */
  get joinedPids(): number[] {
    return [...this.joined].map(({ pid }) => pid);
  }

  /** The sandbox has ended, or is about to. */
  end(): void {
    if (this.over) return;
    this.over = true;
    for (const interruption of this.running) interruption.because(lost());
    this.parts.gate.end();
    this.parts.stdout.cut();
    this.parts.stderr.cut();
    for (const each of this.joined) void each.kill();
  }

  async killAll(signal: AbortSignal): Promise<void> {
    const { gate, target } = this.parts;
    if (this.over) throw lost();
    // Through the gate it costs no process, but it does not listen while a command runs on it.
    if (this.onGate === undefined) await gate.killAll();
    // Again and again, for a command that was only about to start.
    while (this.onGate !== undefined) {
      signal.throwIfAborted();
      await killAllFromOutside(target, signal);
      await Promise.race([this.onGate, pause(100)]);
    }
    await Promise.all([...this.joined].map((each) => each.kill().then(() => each.exit.catch(() => undefined))));
    // What was killed has ended only when the kernel says so: until then it may be writing.
    while ((await living(await children(target.gate))).length > 0 && !this.over) {
      signal.throwIfAborted();
      await pause(1);
    }
    await gate.reap();
    this.empty = true;
  }

  private async run(argv: readonly string[], options: ExecOptions, outputs: readonly [CommandOutput, CommandOutput], screen: Screen | undefined): Promise<ExitStatus> {
    const interruption = new Interruption(options);
    this.running.add(interruption);
    try {
      options.signal?.throwIfAborted();
      if (this.over) throw lost();
      const lines = becoming({ argv, env: options.env, cwd: options.cwd });
      // The gate is root's.
      const free = this.parts.target.user === undefined && options.stdin === undefined && !screen && this.onGate === undefined;
      const code = await (free ? this.preferGate(lines, outputs, interruption) : this.join(lines, options.stdin, outputs, interruption, screen));
      const killed = await this.wasKilledForMemory();
      return killed && code !== 0 ? { code, killedBy: 'memory' } : { code };
    } catch (error) {
      // A command that never came to a pipe has nothing else that ends its output.
      for (const output of outputs) if (!output.served) output.end();
      throw error;
    } finally {
      this.running.delete(interruption);
      interruption.dispose();
    }
  }

  private async preferGate(lines: string, outputs: readonly [CommandOutput, CommandOutput], interruption: Interruption): Promise<number> {
    let release!: () => void;
    this.onGate = new Promise<void>((resolve) => (release = resolve));
    try {
      if ((await this.read) && (this.empty || (await this.isEmpty()))) return await this.onTheGate(lines, outputs, interruption);
    } finally {
      this.onGate = undefined;
      release();
    }
    return this.join(lines, undefined, outputs, interruption);
  }

  private async onTheGate(lines: string, outputs: readonly [CommandOutput, CommandOutput], interruption: Interruption): Promise<number> {
    const { gate, stdout, stderr } = this.parts;
    this.empty = false;
    stdout.serve(outputs[0]);
    stderr.serve(outputs[1]);
    const ended = gate.command(lines);
    try {
      return await Promise.race([interruption.happened, ended]);
    } catch (error) {
      if (!this.over) {
        await this.killGateCommand().catch(() => undefined);
        await patiently(ended);
      }
      throw error;
    } finally {
      const pipes = [stdout, stderr];
      this.read = Promise.all(pipes.map((pipe) => pipe.finish(() => this.lookAgain()))).then((drained) => drained.every(Boolean));
    }
  }

  private lookAgain(): void {
    this.read = Promise.resolve(!this.parts.stdout.serving && !this.parts.stderr.serving);
  }

  /** The gate's command found the sandbox empty, so everything that runs now is its own, unless others have joined meanwhile. */
  private async killGateCommand(): Promise<void> {
    const { target } = this.parts;
    if (this.joined.size === 0) await killAllFromOutside(target, AbortSignal.timeout(PATIENCE_MS));
    else await killDescendants(target.gate);
  }

  private async join(lines: string, stdin: ExecOptions['stdin'], outputs: readonly [CommandOutput, CommandOutput], interruption: Interruption, screen?: Screen): Promise<number> {
    const { target, fifos, surroundings } = this.parts;
    this.empty = false;
    let started: Joined;
    if (screen) {
      const terminal = joinOnTerminal(target, `${surroundings}export TERM="\${TERM:-${TERMINAL_TYPE}}"\n${lines}`, screen.size, stdin, outputs, interruption);
      screen.resize = (size) => terminal.resize(size);
      started = terminal;
    } else started = await join(target, fifos, `${surroundings}${lines}`, stdin, outputs, interruption);
    this.joined.add(started);
    const alone = this.onGate === undefined && this.joined.size === 1;
    const since = (await processState(started.pid))?.started;
    try {
      const code = await Promise.race([interruption.happened, started.exit]);
      // A sandbox that was ended from elsewhere takes its commands with it, which looks like a kill.
      if (code === KILLED && !(await stays(target.gate))) throw lost();
      return code;
    } catch (error) {
      if (!this.over) {
        await started.kill();
        // Daemons of its own hang from the first process by now. With others beside it, whose they are cannot be told.
        if (alone && since !== undefined) await this.killSince(since);
      }
      await patiently(started.exit);
      throw error;
    } finally {
      this.joined.delete(started);
    }
  }

  private async killSince(since: number): Promise<void> {
    for (const pid of await descendants(this.parts.target.gate)) if (((await processState(pid))?.started ?? 0) >= since) kill(pid);
  }

  private async isEmpty(): Promise<boolean> {
    const found = await children(this.parts.target.gate);
    if ((await living(found)).length > 0) return false;
    if (found.length > 0) await this.parts.gate.reap();
    return true;
  }

  private async wasKilledForMemory(): Promise<boolean> {
    const before = this.oomKills;
    this.oomKills = await this.parts.group.oomKills();
    return this.oomKills > before;
  }
}

/** Waits for the end of what was killed, but not without end. */
const patiently = (end: Promise<unknown>): Promise<unknown> => Promise.race([end.catch(() => undefined), pause(PATIENCE_MS, undefined, { ref: false })]);

const lost = (): SandboxLost => new SandboxLost('the sandbox has ended');
