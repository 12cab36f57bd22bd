/** The runner's log: two files of bounded size, without the values of secrets. */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { stripVTControlCharacters } from 'node:util';
import { Redactor } from '../engine/caller.js';

const MOST_BYTES = 1 << 20;
const LONGEST_LINE = 4000;

export type Level = 'info' | 'warn' | 'error';

export class RunnerLog {
  private redactor = new Redactor({});
  private readonly secrets = new Set<string>();
  private size: number;

  constructor(private readonly file: string) {
    this.size = sizeOf(file);
  }

  /** Takes values out of every line from now on. */
  hide(values: Iterable<string>): void {
    for (const value of values) this.secrets.add(value);
    this.redactor = new Redactor(Object.fromEntries([...this.secrets].map((value) => [value, value])));
  }

  /** The message as it is written: without secrets, controls and excess. */
  clean(message: string): string {
    return stripVTControlCharacters(this.redactor.text(message)).replaceAll('\n', '\n  ').slice(0, LONGEST_LINE);
  }

  /** In the file when this returns, so that the last line before a crash is there. Never throws: a full disk must not end runs. */
  write(level: Level, message: string): void {
    const line = `${new Date().toISOString()} ${level} ${this.clean(message)}\n`;
    try {
      if (this.size + line.length > MOST_BYTES) {
        renameSync(this.file, older(this.file));
        this.size = 0;
      }
      appendFileSync(this.file, line, { mode: 0o600 });
      this.size += line.length;
    } catch {
      // Nobody is there to tell.
    }
  }
}

/** The last lines, oldest first. */
export async function readLog(file: string, lines: number): Promise<string[]> {
  const texts = await Promise.all([older(file), file].map((each) => readFile(each, 'utf8').catch(() => '')));
  return texts.join('').split('\n').filter(Boolean).slice(-lines);
}

const older = (file: string): string => `${file}.1`;

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}
