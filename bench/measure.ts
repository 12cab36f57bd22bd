/** What every measurement needs: time, medians, the bare tool in a loop, a table. */
import { spawn } from 'node:child_process';

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Runs a program to its end; rejects if it fails. Its output is thrown away, as a bare loop's would be. */
export function execute(command: string, args: readonly string[], options: { input?: string; env?: NodeJS.ProcessEnv; cwd?: string } = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'inherit'], env: options.env ?? process.env, cwd: options.cwd });
    child.on('error', reject);
    child.on('exit', (code, signal) => (code === 0 ? resolve() : reject(new Error(`${command} ended with ${signal ?? `exit code ${code}`}`))));
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

/** The same command `count` times, `atOnce` side by side, as fast as xargs can start it. */
export function bareLoop(argv: readonly string[], count: number, atOnce: number, env?: NodeJS.ProcessEnv): Promise<void> {
  const input = Array.from({ length: count }, (_, index) => `${index}\n`).join('');
  // The seed is the last argument of the command: `sh -c '...' NAME SEED` is how it reads it.
  return execute('xargs', ['-P', String(atOnce), '-n', '1', ...argv], { input, env });
}

/** Medians of two kinds of work, taken in turns so that both see the same machine. */
export async function sideBySide(rounds: number, ours: () => Promise<number>, bare: () => Promise<number>): Promise<{ ours: number; bare: number; ratio: number }> {
  const times = { ours: [] as number[], bare: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.bare.push(await bare());
    times.ours.push(await ours());
  }
  const result = { ours: median(times.ours), bare: median(times.bare) };
  return { ...result, ratio: result.ours / result.bare };
}

/** One line of the table that the bench prints. */
export interface Figure {
  readonly what: string;
  readonly ours: string;
  readonly floor: string;
  readonly ratio: string;
  readonly target: string;
  readonly met: boolean | undefined;
}

export function table(figures: readonly Figure[]): string {
  const rows = [['what', 'ours', 'floor', 'ratio', 'target', ''], ...figures.map(({ what, ours, floor, ratio, target, met }) => [what, ours, floor, ratio, target, met === undefined ? '' : met ? 'met' : 'NOT MET'])];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  return [line(rows[0]!), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.slice(1).map(line)].join('\n');
}

export const ms = (value: number): string => (value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : value >= 100 ? `${Math.round(value)} ms` : `${value.toFixed(1)} ms`);
