/** Commands in a simulated sandbox, as Beam's process manager keeps them: all output in memory, whole in every answer, no input. */
import { firstLine } from '../../../src/facade/e2b/processes.js';
import type { Sandbox } from '../../../src/sandbox/provider.js';

/** Says its own number before it becomes the command. */
const ANNOUNCE = 'echo $$; exec "$@"';
/** How long the service waits for a command that it was asked to wait for. */
const WAIT_MS = 750;

export class Process {
  exitCode = -1;
  readonly stdout: Buffer[] = [];
  readonly stderr: Buffer[] = [];
  ended!: Promise<void>;

  constructor(
    readonly pid: number,
    readonly command: string,
    readonly cwd: string,
  ) {}

  get running(): boolean {
    return this.exitCode < 0;
  }
}

export class Processes {
  readonly all = new Map<number, Process>();

  constructor(private readonly sandbox: () => Sandbox) {}

  /** `command` is a line of shell. Undefined if the sandbox has ended. */
  async start(command: string, cwd: string | undefined, env: Readonly<Record<string, string>> | undefined, wait: boolean): Promise<Process | undefined> {
    const child = this.sandbox().exec(['/bin/sh', '-c', ANNOUNCE, 'sh', '/bin/sh', '-c', command], { env, cwd: cwd || undefined, lasting: true });
    const first = await firstLine(child.stdout);
    if (first === undefined) {
      child.stderr.resume();
      child.exit.catch(() => undefined);
      return undefined;
    }
    const process = new Process(Number(first.line), command, cwd ?? '');
    this.all.set(process.pid, process);
    if (first.rest.length > 0) process.stdout.push(first.rest);
    const read = async (stream: AsyncIterable<unknown>, into: Buffer[]): Promise<void> => {
      for await (const chunk of stream) into.push(chunk as Buffer);
    };
    const reading = Promise.all([read(child.stdout, process.stdout), read(child.stderr, process.stderr)]).catch(() => undefined);
    process.ended = child.exit.then(
      async ({ code }) => void (await reading, (process.exitCode = code)),
      () => undefined,
    );
    if (wait) {
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([process.ended, new Promise((resolve) => (timer = setTimeout(resolve, WAIT_MS)))]);
      clearTimeout(timer);
    }
    return process;
  }

  async kill(pid: number): Promise<void> {
    const child = this.sandbox().exec(['/bin/sh', '-c', `kill -s KILL ${pid}`]);
    child.stdout.resume();
    child.stderr.resume();
    await child.exit;
  }
}
