/** Commands on a terminal: they join the sandbox as others do, and a process outside holds the other end. */
import { once } from 'node:events';
import type { Duplex, Writable } from 'node:stream';
import { exitCode, spawnFailure, startProgram } from '../command.js';
import { LimitExceeded } from '../errors.js';
import type { ExecOptions, TerminalSize } from '../provider.js';
import { HOST_ENVIRONMENT } from './host.js';
import type { Interruption } from './interruption.js';
import { enterLine, inner, outer, writeAll, type Joined, type Target } from './joined.js';
import type { CommandOutput } from './outputPipe.js';
import { killDescendants } from './processes.js';
import { TERMINAL_PROGRAM } from './terminalProgram.js';
import { tool } from './tools.js';

/** Descriptor of the holder on which it is told the size. */
const ORDERS_FD = 3;
/** Descriptor on which the command gets the lines that become it, and says that it is inside. */
const LINES_FD = 4;

/** Reads lines, says that it has, and becomes what they say. The terminal is not read for it, since it would show them. */
const READER = `p=
while IFS= read -r l <&${LINES_FD}; do p="$p$l
"; done
echo >&${LINES_FD}
exec ${LINES_FD}>&-
eval "$p"`;

export interface OnTerminal extends Joined {
  resize(size: TerminalSize): void;
}

/** Starts a command, given as lines that become it, on a terminal of its own. */
export function joinOnTerminal(target: Target, becoming: string, size: TerminalSize, stdin: ExecOptions['stdin'], [output, nothing]: readonly [CommandOutput, CommandOutput], interruption: Interruption): OnTerminal {
  const { perl, bash } = target.ability.host;
  const command = [bash, '--norc', '--noprofile', '-c', enterLine(target), 'bash', ...outer(target), ...inner(target, [...tool('setsid'), '--ctty', ...tool('sh'), '-c', READER])];
  const ptmx = `/proc/${target.gate}/root/dev/pts/ptmx`;
  const child = startProgram(perl, ['-e', TERMINAL_PROGRAM, '--', ptmx, String(size.columns), String(size.rows), ...command], {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    env: HOST_ENVIRONMENT,
    cwd: '/',
    detached: true,
  });
  const orders = child.stdio[ORDERS_FD] as Writable;
  const lines = child.stdio[LINES_FD] as Duplex;
  for (const stream of [child.stdin, child.stdout, child.stderr, orders, lines]) stream.on('error', () => undefined);
  let started = false;
  lines.on('data', () => (started = true));
  lines.end(`${becoming}\n`);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-500)));
  nothing.served = output.served = true;
  nothing.end();
  output.onWanted = () => child.stdout.resume();
  child.stdout.on('data', (chunk: Buffer) => {
    if (!output.deliver(chunk)) child.stdout.pause();
  });
  child.stdout.once('close', () => output.end());
  if (stdin !== undefined) {
    writeAll(child.stdin, stdin).catch((error: unknown) => {
      if (!child.stdin.destroyed) interruption.because(error);
    });
  }
  const exit = (async () => {
    try {
      const [code, signal] = (await once(child, 'exit').catch((error: unknown) => {
        throw spawnFailure(error);
      })) as [number | null, NodeJS.Signals | null];
      if (!started) throw new LimitExceeded(`a terminal could not be opened in the sandbox: ${said.trim() || 'it has no more room for processes or memory'}`);
      return exitCode(code, signal);
    } finally {
      if (stdin !== undefined && typeof stdin !== 'string' && !(stdin instanceof Uint8Array)) stdin.destroy();
      child.stdin.destroy();
    }
  })();
  exit.catch(() => undefined);
  return {
    pid: child.pid!,
    exit,
    resize: ({ columns, rows }) => void (orders.writable && orders.write(`${columns} ${rows}\n`)),
    kill: async () => {
      child.stdout.resume();
      await killDescendants(child.pid!);
      child.kill('SIGKILL');
    },
  };
}
