/** A sandbox for as long as a shell or a command in it runs. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import type { Command } from 'commander';
import type { Held } from '../../engine/sandboxes/held.js';
import { SHELL, openSandbox } from '../../engine/sandboxes/open.js';
import { openSandboxAt, type TravelRequest } from '../../engine/sandboxes/travel.js';
import type { ExecProcess, TerminalSize } from '../../sandbox/provider.js';
import { UsageError } from '../failure.js';
import { providerOption } from '../options.js';
import { coloured, oneLine, plain } from '../plain.js';
import { CURRENT, Counter, STEP, orCurrent, traceNamed } from '../travel.js';
import { Session, type CommonOptions } from '../session.js';

export interface SandboxOptions extends CommonOptions {
  readonly provider?: string;
  readonly step?: number;
  readonly current?: boolean;
}

const PLACE = 'a template (built if needed), of a snapshot, or with --step of a recorded trace';

export function addSandboxes(program: Command): void {
  program
    .command('shell <template>')
    .description(`a sandbox of ${PLACE}, with a terminal; it ends when you leave`)
    .addOption(providerOption())
    .addOption(STEP)
    .addOption(CURRENT)
    .action((what: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<SandboxOptions>();
      return Session.run(options, async (session) => {
        if (!process.stdin.isTTY || !process.stdout.isTTY) throw new UsageError('`shell` needs a terminal; for a command there is `exec`');
        return shell(await open(session, what, options), session);
      });
    });

  program
    .command('exec <template> <command...>')
    .description(`runs a command in a sandbox of ${PLACE}, and ends it: \`exec TEMPLATE -- COMMAND\`; exits as the command does`)
    .addOption(providerOption())
    .addOption(STEP)
    .addOption(CURRENT)
    .action((what: string, argv: string[], _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<SandboxOptions>();
      return Session.run(options, async (session) => exec(await open(session, what, options), argv, session));
    });
}

export const isTemplate = (what: string): boolean => existsSync(what) || /\.ya?ml$/.test(what);

export async function open(session: Session, what: string, { provider, step, current }: SandboxOptions): Promise<Held> {
  const onOutput = (text: string): void => void (session.json || process.stderr.write(plain(text)));
  if (step !== undefined) return openAt(session, { trace: await traceNamed(session.engine, what), step, current, keepMs: -1, signal: session.signal, onOutput });
  if (current) throw new UsageError('--current goes with --step: it is about the snapshot that a trace names');
  return openSandbox(session.engine, { ...(isTemplate(what) ? { file: resolve(what) } : { snapshot: what }), provider, keepMs: -1, signal: session.signal, onOutput });
}

/** A sandbox as one was after a step of a trace; where it is another one, that is said, and whoever asked may look all the same. */
async function openAt(session: Session, request: TravelRequest): Promise<Held> {
  const tell = new Counter(session);
  const { held, step, difference } = await orCurrent(openSandboxAt(session.engine, { ...request, onStep: (taken, of) => tell.show(`step ${taken} of ${of}`) })).finally(() => tell.end());
  session.note(difference === undefined ? `The sandbox is as it was after step ${step}.` : `The sandbox is not as it was after step ${step}: ${oneLine(difference, 500)}.`);
  return held;
}

/** What the sandbox shows goes to the terminal as it is: that is what a terminal is for. */
async function shell({ sandbox }: Held, { signal }: Session): Promise<number> {
  const { stdin, stdout } = process;
  const size = (): TerminalSize => ({ columns: stdout.columns, rows: stdout.rows });
  const keys = new PassThrough();
  const child = sandbox.exec(SHELL, { tty: size(), stdin: keys, signal });
  const resized = (): void => child.resize(size());
  stdin.setRawMode(true).pipe(keys);
  // Node leaves one thing on: a carriage return before each line feed, which moves what a full-screen program draws.
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] });
  stdout.on('resize', resized);
  child.stderr.resume();
  child.stdout.pipe(stdout, { end: false });
  try {
    const { code } = await child.exit;
    if (!child.stdout.readableEnded) await once(child.stdout, 'end');
    return code;
  } finally {
    stdout.off('resize', resized);
    stdin.unpipe(keys).setRawMode(false).pause();
  }
}

/** Resolves with the command's exit code. */
export async function exec({ sandbox, redactor }: Held, argv: readonly string[], { signal }: Session, to: NodeJS.WriteStream = process.stdout): Promise<number> {
  const { stdin } = process;
  const child: ExecProcess = sandbox.exec(argv, { stdin: stdin.isTTY ? undefined : stdin, signal });
  const shown = Promise.all([show(redactor.clean(child.stdout), to), show(redactor.clean(child.stderr), process.stderr)]);
  shown.catch(() => undefined);
  const { code } = await child.exit;
  await shown;
  stdin.destroy();
  return code;
}

/** Bytes as they are, but for a terminal, which gets nothing that could steer it. */
async function show(stream: Readable, to: NodeJS.WriteStream): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (!to.write(to.isTTY ? coloured(decoder.decode(chunk, { stream: true })) : chunk)) await once(to, 'drain');
  }
}
