/** Text of POSIX shells. */
import { Unsupported } from './errors.js';

/** A word of shell that stands for exactly this text. */
export function quote(word: string): string {
  if (word.includes('\0')) throw new Unsupported('an argument or a value of the environment holds a NUL character, which no command can be given');
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
