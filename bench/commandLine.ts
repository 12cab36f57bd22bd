/** The command line as a process: start-up, size, and memory as the number of episodes grows. */
import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AT_ONCE, HELLO } from './bubblewrap.js';
import { loadedWith, sizeOf } from './bundles.js';
import { execute, ms, sideBySide, timed, type Figure } from './measure.js';

const CLI = resolve('dist/cli.mjs');
const MOST_GROWTH = 40_000_000;
const MANY = 20_000;
const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export async function commandLine(root: string, many = MANY): Promise<Figure[]> {
  const start = await sideBySide(
    9,
    () => timed(() => execute(process.execPath, [CLI, '--version'])),
    () => timed(() => execute(process.execPath, ['-e', '0'])),
  );
  const [few, lots] = [await peakMemory(root, 512), await peakMemory(root, many)];
  return [
    { what: 'command line: start-up (--version)', ours: ms(start.ours), floor: `${ms(start.bare)} (node -e 0)`, ratio: start.ratio.toFixed(2), target: '', met: undefined },
    { what: 'command line: entry bundle / all it loads at start', ours: `${mb((await stat(CLI)).size)} / ${mb(await sizeOf(await loadedWith('cli.mjs')))}`, floor: '', ratio: '', target: '', met: undefined },
    { what: `engine: peak memory, 512 and ${many} episodes`, ours: `${mb(few)} and ${mb(lots)}`, floor: '', ratio: (lots / few).toFixed(2), target: 'growth ≤ 40 MB', met: lots - few <= MOST_GROWTH },
  ];
}

/** Peak resident memory of a run in its own process, bytes. */
export async function peakMemory(root: string, episodes: number, provider = 'bubblewrap'): Promise<number> {
  const child = spawn(process.execPath, [CLI, 'run', resolve(HELLO), '--provider', provider, '-n', String(episodes), '-c', String(AT_ONCE), '--json', '--root', root], { stdio: 'ignore' });
  let peak = 0;
  const look = setInterval(() => {
    readFile(`/proc/${child.pid}/status`, 'utf8').then(
      (status) => (peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024)),
      () => undefined,
    );
  }, 50);
  const code = await new Promise((done) => child.on('exit', done));
  clearInterval(look);
  if (code !== 0) throw new Error(`a run of ${episodes} episodes ended with exit code ${String(code)}`);
  return peak;
}
