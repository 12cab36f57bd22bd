/**
 * Pipes for the output and input of commands. Node gives a child sockets, which cannot be opened by name, so that `echo > /dev/stderr`
 * would fail inside; these are real pipes. Making their names costs a process, so they are made many at a time.
 */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runCommand, spawnFailure } from '../command.js';
import { SandboxError } from '../errors.js';

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = fs.constants;
// Plain descriptors, since sockets and children take them over: a FileHandle would close them a second time.
const open = promisify(fs.open);
const BATCH = 64;

/** A pipe as two file descriptors. */
export interface Pipe {
  /** For this process; does not block. */
  readonly ours: number;
  /** For the child; blocks as a program expects. To be closed here once the child has it. */
  readonly theirs: number;
}

/** Closes a descriptor; nothing can be done about a failure. */
export const closeDescriptor = (fd: number): void => fs.close(fd, () => undefined);

export class Fifos {
  private readonly ready: string[] = [];
  private making: Promise<void> | undefined;

  constructor(
    private readonly folder: string,
    private readonly mkfifo: string,
  ) {}

  /** The names of some pipes, for whoever keeps them. */
  async names(count: number): Promise<string[]> {
    const names: string[] = [];
    while (names.length < count) names.push(await this.take());
    return names;
  }

  /** Pipes for one command: its output, its errors, and its input if it has one. They lose their names at once, so no other can ever share them. */
  async set<Input extends boolean>(input: Input): Promise<[Pipe, Pipe, Input extends true ? Pipe : Pipe | undefined]> {
    const made: Pipe[] = [];
    try {
      made.push(await this.output());
      made.push(await this.output());
      if (input) made.push(await this.input());
      return made as [Pipe, Pipe, Pipe];
    } catch (error) {
      for (const pipe of made) [pipe.ours, pipe.theirs].forEach(closeDescriptor);
      throw error;
    }
  }

  /** A pipe that the child writes to. */
  private output(): Promise<Pipe> {
    return this.use(async (path) => {
      const ours = await open(path, O_RDONLY | O_NONBLOCK);
      return { ours, theirs: await open(path, O_WRONLY).catch(closing(ours)) };
    });
  }

  /** A pipe that the child reads from. */
  private input(): Promise<Pipe> {
    return this.use(async (path) => {
      // Holding both ends for a moment lets the others open without waiting.
      const both = await open(path, O_RDWR | O_NONBLOCK);
      try {
        const theirs = await open(path, O_RDONLY);
        return { theirs, ours: await open(path, O_WRONLY | O_NONBLOCK).catch(closing(theirs)) };
      } finally {
        closeDescriptor(both);
      }
    });
  }

  async close(): Promise<void> {
    await this.making?.catch(() => undefined);
    await rm(this.folder, { recursive: true, force: true });
    this.ready.length = 0;
  }

  private async use(work: (path: string) => Promise<Pipe>): Promise<Pipe> {
    const path = await this.take();
    try {
      return await work(path);
    } catch (error) {
      throw spawnFailure(error);
    } finally {
      fs.unlink(path, () => undefined);
    }
  }

  private async take(): Promise<string> {
    for (;;) {
      const path = this.ready.pop();
      if (path !== undefined) return path;
      await (this.making ??= this.make().finally(() => (this.making = undefined)));
    }
  }

  private async make(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const batch = randomBytes(4).toString('hex');
    const paths = Array.from({ length: BATCH }, (_, index) => join(this.folder, `${batch}-${index}`));
    const { code, stderr } = await runCommand(this.mkfifo, ['-m', '600', '--', ...paths]);
    if (code !== 0) throw new SandboxError(`pipes cannot be made in ${this.folder}: ${stderr.trim()}`);
    this.ready.push(...paths);
  }
}

const closing =
  (fd: number) =>
  (error: unknown): never => {
    closeDescriptor(fd);
    throw error;
  };
