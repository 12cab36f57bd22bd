/**
 * The sandbox's first process: a shell that reads its program from us, line by line. It cannot be killed from inside. It runs the first
 * command, which spares that command a way in, and every later one that finds the sandbox empty; it kills everything else on demand.
 */
import type { Readable, Writable } from 'node:stream';
import { SandboxLost } from '../errors.js';
import { REPORT_FD } from './launch.js';

export class Gate {
  /** As the host counts. */
  pid: number | undefined;
  private waiting: { readonly word: string; readonly resolve: (value: number) => void; readonly reject: (error: Error) => void } | undefined;
  private text = '';
  private number = 0;
  private lost: Error | undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly program: Writable,
    report: Readable,
  ) {
    // A sandbox that went away is noticed by its end, not by this.
    program.on('error', () => undefined);
    report.on('error', () => undefined);
    report.setEncoding('latin1').on('data', (text: string) => this.read(text));
  }

  /** Sends lines of shell and waits for what they report: `report`, expanded, in the line after them. One after another, in the order of the calls. */
  run(lines: string, report = '$?'): Promise<number> {
    const answer = this.last.then(() => this.send(lines, report));
    this.last = answer.catch(() => undefined);
    return answer;
  }

  private send(lines: string, report: string): Promise<number> {
    if (this.lost) return Promise.reject(this.lost);
    const word = `r${++this.number}`;
    return new Promise((resolve, reject) => {
      this.waiting = { word, resolve, reject };
      this.program.write(`${lines}\necho ${word} ${report} >&${REPORT_FD}\n`);
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

  /** Nothing more will be answered. */
  end(error: Error = new SandboxLost('the sandbox has ended')): void {
    this.lost ??= error;
    this.waiting?.reject(this.lost);
    this.waiting = undefined;
  }

  private read(text: string): void {
    this.text += text;
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
