/** How selected code is run: the program that reads its language, and the code as one argument. Knows nothing of VS Code. */

/** By VS Code's name of the language. */
const PROGRAMS: Readonly<Record<string, readonly [program: string, option: string]>> = {
  shellscript: ['sh', '-c'],
  plaintext: ['sh', '-c'],
  python: ['python3', '-c'],
  javascript: ['node', '-e'],
  ruby: ['ruby', '-e'],
  perl: ['perl', '-e'],
  lua: ['lua', '-e'],
  r: ['Rscript', '-e'],
  php: ['php', '-r'],
};

/** Bytes; Linux takes 128 KiB in one argument. */
export const LONGEST_CODE = 100_000;

/** Undefined where no program is known for the language. A first line such as `#!/usr/bin/env bash` counts for more. */
export function commandFor(language: string, code: string): readonly string[] | undefined {
  const shell = /^#!\S*\/(?:env\s+)?(bash|zsh|dash|ksh|sh)\b/.exec(code)?.[1];
  const [program, option] = shell ? [shell, '-c'] : ((Object.hasOwn(PROGRAMS, language) && PROGRAMS[language]) || []);
  return program === undefined || option === undefined ? undefined : [program, option, dedent(code)];
}

/** Lines that were selected inside of a block stand where a program may begin. */
export function dedent(code: string): string {
  const lines = code.split(/\r?\n/);
  const indents = lines.filter((line) => line.trim()).map((line) => /^[ \t]*/.exec(line)![0]);
  // The first line may have been selected from its first letter on, which says nothing of how deep it stands.
  const common = (indents[0] === '' ? [''] : indents).reduce((one, other) => prefix(one, other), indents[0] ?? '');
  return common ? lines.map((line) => (line.startsWith(common) ? line.slice(common.length) : line)).join('\n') : lines.join('\n');
}

function prefix(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}
