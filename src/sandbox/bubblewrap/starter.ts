/**
 * A small process that starts sandboxes for us. Starting one from here would copy this whole process for a moment and stop it until the child
 * runs, which costs more than the sandbox does; this one is a shell of a few megabytes. What it starts is its child and ends with it, and it
 * ends with us: its program comes from us, and ends when we do.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { LimitExceeded } from '../errors.js';
import { HOST_ENVIRONMENT } from './joined.js';
import { closeAbove, quote } from './shell.js';
import type { Slot } from './slots.js';

export class Starter {
  private child: ChildProcess | undefined;
  private readonly waiting = new Set<(error: Error) => void>();

  constructor(
    private readonly bash: string,
    private readonly log: (message: string) => void,
  ) {}

  /** Starts a program with a slot's pipes. Calls `onFailure` if it finds out that it cannot, until what it gave back is called. */
  start(words: readonly string[], { names }: Slot, onFailure: (error: Error) => void): () => void {
    this.waiting.add(onFailure);
    const redirections = `<${quote(names.program)} >${quote(names.stdout)} 2>${quote(names.stderr)} 3>${quote(names.report)}`;
    // With the opening of the pipes in the child: it waits for us.
    this.running().stdin!.write(`${words.map(quote).join(' ')} ${redirections} & disown\n`);
    return () => this.waiting.delete(onFailure);
  }

  close(): void {
    this.child?.stdin!.end();
    this.child = undefined;
  }

  private running(): ChildProcess {
    if (this.child) return this.child;
    const child = spawn(this.bash, ['--norc', '--noprofile'], { stdio: ['pipe', 'ignore', 'pipe'], env: HOST_ENVIRONMENT, cwd: '/', detached: true });
    this.child = child;
    child.stdin.on('error', () => undefined);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.log(`bubblewrap: ${text.trim()}`);
      if (/fork|memory|resource/i.test(text)) this.fail(new LimitExceeded(`the machine has no more room for processes: ${text.trim()}`));
    });
    const gone = (): void => {
      if (this.child === child) this.child = undefined;
      this.fail(new LimitExceeded('the process that starts sandboxes has ended'));
    };
    child.once('error', gone).once('exit', gone);
    // Neither keeps this process from ending.
    child.unref();
    for (const stream of [child.stdin, child.stderr]) (stream as unknown as { unref(): void }).unref();
    // With job control, so that what runs in the background does not ignore interrupts.
    child.stdin.write(`${closeAbove(2)}\nset -m\n`);
    return child;
  }

  private fail(error: Error): void {
    for (const onFailure of this.waiting) onFailure(error);
    this.waiting.clear();
  }
}
