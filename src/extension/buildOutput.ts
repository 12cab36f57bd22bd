/** Output of builds, line by line, into the log. It comes out of sandboxes: controls are taken out. */
import { basename } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type * as vscode from 'vscode';
import type { Disposable } from './dispose.js';
import { oneLine } from './format.js';
import type { Runner } from './runner.js';

const LONGEST_LINE = 2000;

export function logBuildOutput(runner: Runner, log: vscode.LogOutputChannel): Disposable {
  const unfinished = new Map<string, string>();
  return runner.on('build/output', ({ file, text }) => {
    const lines = ((unfinished.get(file) ?? '') + text).split(/\r?\n/);
    // A line without end does not grow without end.
    unfinished.set(file, lines.pop()!.slice(-LONGEST_LINE));
    for (const line of lines) if (line.trim()) log.info(`[${basename(file)}] ${oneLine(stripVTControlCharacters(line), LONGEST_LINE)}`);
  });
}
