/**
 * A small process that starts sandboxes for us. Starting one from here would copy this whole process for a moment and stop it until the child
 * runs, which costs more than the sandbox does. What it starts is its child and ends with it, and it ends with us: its work comes from us.
 */
import type { ChildProcessByStdio } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { startProgram } from '../command.js';
import { LimitExceeded } from '../errors.js';
import { HOST_ENVIRONMENT } from './host.js';
import type { Slot } from './slots.js';
import { record, starterArguments, type Step } from './starterProgram.js';

export class Starter {
  private child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  /** What to tell of a start that is found to have failed before it could say so itself, by name. */
  private readonly waiting = new Map<string, (error: Error) => void>();

  constructor(
    private readonly perl: string,
    private readonly log: (message: string) => void,
  ) {}

  /** Does steps in a child, with a slot's pipes. Calls `onFailure` if there is no child, until what it gave back is called. */
  start(name: string, { names }: Slot, steps: readonly Step[], onFailure: (error: Error) => void): () => void {
    const { stdin } = this.running();
    this.waiting.set(name, onFailure);
    stdin.write(record(name, [names.program, names.stdout, names.stderr, names.report], steps));
    return () => this.waiting.delete(name);
  }

  close(): void {
    this.child?.stdin.end();
    this.child = undefined;
  }

  private running(): ChildProcessByStdio<Writable, Readable, Readable> {
    if (this.child) return this.child;
    // Apart from our terminal's group: Ctrl-C is for us, and we end sandboxes in good order.
    const child = startProgram(this.perl, starterArguments('serve'), { stdio: ['pipe', 'pipe', 'pipe'], env: HOST_ENVIRONMENT, cwd: '/', detached: true });
    this.child = child;
    child.stdin.on('error', () => undefined);
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.log(`bubblewrap: ${text.trim()}`));
    createInterface(child.stdout).on('line', (line) => this.heard(line));
    const gone = (): void => {
      if (this.child === child) this.child = undefined;
      for (const onFailure of this.waiting.values()) onFailure(new LimitExceeded('the process that starts sandboxes has ended'));
      this.waiting.clear();
    };
    child.once('error', gone).once('exit', gone);
    // None of it keeps this process from ending.
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket).unref();
    return child;
  }

  private heard(line: string): void {
    const [, name, why] = /^failed (\S+) (.*)$/.exec(line) ?? [];
    if (name !== undefined) this.waiting.get(name)?.(new LimitExceeded(`the machine has no more room for processes: ${why}`));
  }
}
