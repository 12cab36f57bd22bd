/**
 * The sandbox's first process: a shell that reads its program from us, line by line. It cannot be killed from inside. It runs the first
 * command, which spares that command a way in, and every later one that finds the sandbox empty; it kills everything else on demand.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SandboxLost } from '../errors.js';
import { REPORT_FD } from './launch.js';
import type { User } from './joined.js';
import { exists } from './processes.js';
import type { Line } from './slots.js';

/** The monitor's last act is to close its report; this waits for the moment that it needs to be gone, and the mounts with it. */
async function ended(monitor: number | undefined): Promise<void> {
  for (let look = 0; look < 1000 && monitor !== undefined && exists(monitor); look++) await pause(1);
}

export class Gate {
  /** bubblewrap's monitor, which holds the mounts, and the gate itself; as the host counts. */
  launcher: number | undefined;
  pid: number | undefined;
  /** Whose commands are, where not the gate's own user's. */
  user: User | undefined;
  /** Resolves when neither runs any more, and so nothing else of the sandbox. */
  readonly closed: Promise<void>;
  private waiting: { readonly word: string; readonly resolve: (value: number) => void; readonly reject: (error: Error) => void } | undefined;
  private text = '';
  private number = 0;
  private over = false;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly line: Line) {
    // A sandbox that went away is noticed by the end of its reports.
    line.program.on('error', () => undefined);
    line.report.on('error', () => undefined);
    line.report.setEncoding('latin1').on('data', (text: string) => this.read(text));
    this.closed = new Promise<void>((resolve) => line.report.once('close', () => resolve())).then(() => ended(this.launcher));
  }

  /** Sends lines of shell and waits for what they report: `report`, expanded, in the line after them. One after another, in the order of the calls. */
  run(lines: string, report = '$?'): Promise<number> {
    const answer = this.last.then(() => this.send(lines, report));
    this.last = answer.catch(() => undefined);
    return answer;
  }

  private send(lines: string, report: string): Promise<number> {
    if (this.over) return Promise.reject(lost());
    const word = `r${++this.number}`;
    return new Promise((resolve, reject) => {
      this.waiting = { word, resolve, reject };
      this.line.program.write(`${lines}\necho ${word} ${report} >&${REPORT_FD}\n`);
    });
  }

  /** Runs a command, given as lines that become it, in a process of its own. */
  command(becoming: string): Promise<number> {
    return this.run(`(\n${becoming}\n) </dev/null ${REPORT_FD}>&-`);
  }

  /** Kills every process but itself at once: no fork escapes, since the kernel goes through all processes before it lets one fork. */
  async killAll(): Promise<void> {
    await this.run('kill -9 -1 2>/dev/null', '0');
  }

  /** Takes in those that ended, without a fork, which the limit of processes may not allow. */
  async reap(): Promise<void> {
    await this.run('jobs 2>/dev/null', '0');
  }

  /** Hangs up: the gate ends with its program, and nothing more will be answered. */
  end(): void {
    this.over = true;
    this.waiting?.reject(lost());
    this.waiting = undefined;
    this.line.opened();
    this.line.program.destroy();
  }

  private read(text: string): void {
    this.text += text;
    if (this.launcher === undefined) {
      this.launcher = Number(/^up (\d+)\n/.exec(this.text)?.[1] ?? 0) || undefined;
      if (this.launcher !== undefined) this.line.opened();
    }
    const [, uid, gid] = /^user (\d+) (\d+)\n/m.exec(this.text) ?? [];
    if (uid !== undefined && gid !== undefined) this.user = { uid, gid };
    // bubblewrap writes a JSON object before the gate starts.
    this.pid ??= Number(/"child-pid": (\d+)/.exec(this.text)?.[1] ?? 0) || undefined;
    for (;;) {
      const end = this.text.indexOf('\n');
      if (end < 0) return;
      const [word, code] = this.text.slice(0, end).split(' ');
      this.text = this.text.slice(end + 1);
      if (this.waiting === undefined || word !== this.waiting.word) continue;
      const { resolve } = this.waiting;
      this.waiting = undefined;
      resolve(Number(code));
    }
  }
}

const lost = (): SandboxLost => new SandboxLost('the sandbox has ended');
