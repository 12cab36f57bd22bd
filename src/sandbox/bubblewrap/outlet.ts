/** The relay of a sandbox with a list of allowed hosts: a process in its network namespace that is otherwise outside, where nothing in the sandbox can see or end it. */
import { once } from 'node:events';
import { exitCode, spawnFailure, startProgram } from '../command.js';
import type { Relay } from '../network/outlet.js';
import { PERL_RELAY, RELAY_ARGUMENTS } from '../network/relayPrograms.js';
import { HOST_ENVIRONMENT } from './host.js';
import { outer, type Target } from './joined.js';

export function startRelay(target: Target): Relay {
  const { host } = target.ability;
  const [file, ...args] = [...outer(target), host.nsenter, `--net=/proc/${target.gate}/ns/net`, '--', host.perl, '-e', PERL_RELAY, '--', ...RELAY_ARGUMENTS];
  const child = startProgram(file!, args, { stdio: ['pipe', 'pipe', 'pipe'], env: HOST_ENVIRONMENT, cwd: '/', detached: true });
  const exit = once(child, 'close').then(
    ([code, signal]) => exitCode(code as number | null, signal as NodeJS.Signals | null),
    (error: unknown) => {
      throw spawnFailure(error);
    },
  );
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exit, kill: () => void child.kill('SIGKILL') };
}
