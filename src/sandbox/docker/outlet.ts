/** The relay of a container with a list of allowed hosts: a program inside it, by whatever its image has for it. It ends with all else that is killed there. */
import { PassThrough } from 'node:stream';
import { NO_PROGRAM, type Relay } from '../network/outlet.js';
import { PERL_RELAY, PYTHON_RELAY, RELAY_ARGUMENTS } from '../network/relayPrograms.js';
import type { ExecOptions, ExecProcess } from '../provider.js';
import { quote } from '../quote.js';

const SCRIPT = `has() { command -v "$1" >/dev/null 2>&1; }
if has perl; then exec perl -e ${quote(PERL_RELAY)} -- "$@"; fi
if has python3; then exec python3 -c ${quote(PYTHON_RELAY)} "$@"; fi
exit ${NO_PROGRAM}`;

export function startRelay(exec: (argv: readonly string[], options: ExecOptions) => ExecProcess): Relay {
  const stop = new AbortController();
  const stdin = new PassThrough();
  const { stdout, stderr, exit } = exec(['sh', '-c', SCRIPT, 'sh', ...RELAY_ARGUMENTS], { stdin, cwd: '/', signal: stop.signal });
  return { stdin, stdout, stderr, exit: exit.then(({ code }) => code), kill: () => stop.abort(new Error('the relay is not needed any more')) };
}
