/** Seeds as text, for an input box and a command line. Knows nothing of VS Code. */
import * as l10n from '@vscode/l10n';
import type { RunSpec } from '../store/records.js';

/** A sentence if the text names no seeds; nothing is "as the template says". The engine has the last word. */
export function checkSeeds(text: string): string | undefined {
  const trimmed = text.trim();
  const range = /^(\d+)\.\.(\d+)$/.exec(trimmed);
  const fine = trimmed === '' || (range ? Number(range[1]) <= Number(range[2]) : /^\d+(\s*,\s*\d+)*$/.test(trimmed) && trimmed !== '0');
  return fine ? undefined : l10n.t('Expected how many (512), a range (0..511), a list (3,17,99), or nothing for the seeds of the template.');
}

/** The text that gives these seeds again. */
export function seedsText(seeds: RunSpec['seeds']): string {
  if (!('list' in seeds)) return `${seeds.first}..${seeds.last}`;
  // One number alone would be read as how many.
  return seeds.list.length === 1 ? `${seeds.list[0]}..${seeds.list[0]}` : seeds.list.join(',');
}
