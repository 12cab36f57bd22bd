/**
 * The pipes between us and a sandbox's first process, used again by the next sandbox: `in` for its program, `report` for its answers, and two
 * for what commands write. When a sandbox has ended nothing holds its ends any more, so they are as good as new.
 */
import * as fs from 'node:fs';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { spawnFailure } from '../command.js';
import { closeDescriptor, type Fifos } from './fifos.js';
import { OutputPipe } from './outputPipe.js';

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = fs.constants;
const open = promisify(fs.open);

export interface Slot {
  /** Paths by which the sandbox's processes open their ends. */
  readonly names: { readonly program: string; readonly stdout: string; readonly stderr: string; readonly report: string };
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
}

/** What of a slot is each sandbox's own. */
export interface Line {
  readonly program: Socket;
  /** Ends when the sandbox's processes have, once `opened` was called. */
  readonly report: Socket;
  /** The other end has been opened: until then we hold it ourselves, or it would seem to have ended. */
  readonly opened: () => void;
}

export class Slots {
  private readonly idle: Slot[] = [];

  constructor(private readonly fifos: Fifos) {}

  async acquire(): Promise<Slot> {
    const slot = this.idle.pop() ?? (await this.make());
    for (const pipe of [slot.stdout, slot.stderr]) pipe.hold(true);
    return slot;
  }

  /** Gives a slot back when its sandbox has ended; one that was used up is not kept. */
  async release(slot: Slot): Promise<void> {
    if (slot.stdout.destroyed) return;
    for (const pipe of [slot.stdout, slot.stderr]) {
      pipe.cut();
      pipe.hold(false);
    }
    // A whole round of reading, so that nothing of this sandbox is left in the pipes.
    await turn();
    await turn();
    this.idle.push(slot);
  }

  close(): void {
    for (const { stdout, stderr } of this.idle.splice(0)) for (const pipe of [stdout, stderr]) pipe.destroy();
  }

  private async make(): Promise<Slot> {
    const [program, stdout, stderr, report] = (await this.fifos.names(4)) as [string, string, string, string];
    // Opened for both, so that they never seem to have ended: one alone would keep this process for ever.
    const out = await open(stdout, O_RDWR | O_NONBLOCK).catch(failed);
    const err = await open(stderr, O_RDWR | O_NONBLOCK).catch(closing(out));
    return { names: { program, stdout, stderr, report }, stdout: new OutputPipe(out), stderr: new OutputPipe(err) };
  }
}

/** For a slot whose other ends may still be held, or be opened later. */
export function discard({ names, stdout, stderr }: Slot): void {
  for (const name of Object.values(names)) fs.unlink(name, () => undefined);
  for (const pipe of [stdout, stderr]) pipe.destroy();
}

/** Opens what each sandbox has of its own. */
export async function openLine({ names }: Slot): Promise<Line> {
  const program = await open(names.program, O_RDWR | O_NONBLOCK).catch(failed);
  const report = await open(names.report, O_RDONLY | O_NONBLOCK).catch(closing(program));
  const held = await open(names.report, O_WRONLY | O_NONBLOCK).catch(closing(program, report));
  let isHeld = true;
  return {
    program: new Socket({ fd: program, readable: false, writable: true }),
    report: new Socket({ fd: report, readable: true, writable: false }),
    opened: () => {
      if (isHeld) closeDescriptor(held);
      isHeld = false;
    },
  };
}

const failed = (error: unknown): never => {
  throw spawnFailure(error);
};

const closing =
  (...descriptors: number[]) =>
  (error: unknown): never => {
    descriptors.forEach(closeDescriptor);
    throw spawnFailure(error);
  };
