/** Shell text. Everything here is POSIX, and every word that is not ours goes through `quote`. */
import { Unsupported } from '../errors.js';
import { quote } from '../quote.js';

/** Lines that set variables of the environment. */
export function exports(env: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new Unsupported(`"${name}" is no name of an environment variable`);
    lines += `export ${name}=${quote(value)}\n`;
  }
  return lines;
}

export interface Command {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Lines that become a command. Values of the environment are lines of shell, never words of a command line, which anyone can read. */
export function becoming({ argv, env = {}, cwd }: Command): string {
  if (argv.length === 0) throw new Unsupported('a command needs at least a program');
  return `${exports(env)}${cwd === undefined ? '' : `cd -- ${quote(cwd)} || exit 126\n`}exec ${argv.map(quote).join(' ')}`;
}

/** Line of bash that closes every descriptor above one: some of ours may have been left open to us by whoever started us, and are no business of a sandbox. */
export const closeAbove = (highest: number): string => `for fd in /proc/self/fd/*; do fd=\${fd##*/}; ((fd > ${highest})) && eval "exec $fd>&-"; done`;
