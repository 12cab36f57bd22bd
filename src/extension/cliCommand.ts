/** The command line that does the same as a run. Knows nothing of VS Code. */
import { relative } from 'node:path';
import type { RunRecord } from '../store/records.js';
import { seedAt } from '../template/template.js';
import { seedsText } from './seeds.js';

export interface CliPlace {
  /** Workspace folder, where the command is meant to run. */
  readonly root: string;
  /** Path of the program that comes with the extension, which need not be on the PATH. */
  readonly cli: string;
  readonly platform: NodeJS.Platform;
}

/** A run of some episodes only is told by their seeds. */
export function cliCommand(run: RunRecord, { root, cli, platform }: CliPlace): string {
  const file = relative(root, run.file) || run.file;
  const seeds = run.only ? seedsText({ list: [...new Set(run.only.map((episode) => seedAt(run.seeds, Math.floor(episode / run.samples))))] }) : seedsText(run.seeds);
  const words = ['node', cli, 'run', file, '--seeds', seeds, '--samples', String(run.samples), '-c', String(run.concurrency), ...(run.from === undefined ? ['--provider', run.provider] : ['--snapshot', run.from]), '--timeout', `${run.timeoutMs}ms`];
  return words.map((word) => quote(word, platform)).join(' ');
}

/** One word for the shell that a terminal of VS Code has by default: PowerShell on Windows, a POSIX shell elsewhere. */
function quote(word: string, platform: NodeJS.Platform): string {
  if (/^[A-Za-z0-9_@%+=:./-]+$/.test(word) && !word.startsWith('@')) return word;
  return platform === 'win32' ? `'${word.replaceAll("'", "''")}'` : `'${word.replaceAll("'", `'\\''`)}'`;
}
