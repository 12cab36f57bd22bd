/**
 * Runs inside VS Code's extension host: the same run again and again, in turns alone and watched. A run view is a view of a run that is there. So each run is begun and
 * cancelled at once; what is measured is its resume, in which nearly all of its episodes run.
 */
import { rename, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { TestApi } from '../src/extension/activate.js';
import { Commands } from '../src/extension/ids.js';
import { processorTime } from './processorTime.js';

/** `alone`: neither a run view nor the sidebar. `open`: the view was on screen before the run went on. `opening`: it is opened as the run goes on. `sidebar`: with the sidebar in place of a view. */
export const WAYS = ['alone', 'open', 'opening', 'sidebar'] as const;
export type Way = (typeof WAYS)[number];

/** What `RL_BENCH_HOST` holds, as JSON. */
export interface HostTask {
  readonly root: string;
  readonly file: string;
  readonly rounds: number;
  readonly episodes: number;
  readonly atOnce: number;
  /** Of the process whose children are VS Code's server and its browser. */
  readonly pid: number;
  /** Where the result goes. */
  readonly result: string;
}

/** What one run took, ms: from asking for it to its last episode on disk, and processor time of all of VS Code meanwhile, its browser included and the runner not. */
export interface Taken {
  readonly wall: number;
  readonly cpu: number;
}

/** What each run took; or why there is none. */
export interface HostResult {
  readonly taken: Readonly<Record<Way, readonly Taken[]>>;
  readonly error?: string;
}

const none = (): Record<Way, Taken[]> => ({ alone: [], open: [], opening: [], sidebar: [] });

const RUN_MS = 120_000;
/** What a page needs to come up, and a window to come to rest, ms. */
const SETTLE_MS = 1500;

async function measure({ root, file, rounds, episodes, atOnce, pid }: HostTask): Promise<HostResult> {
  const api = await vscode.extensions.getExtension<TestApi>('rl-sandboxes.rl-sandboxes')?.activate();
  if (!api) throw new Error('the extension is not there');
  const { runner, runs } = api.services;
  const ended = (id: string) => runs.ended({ root, id }, () => undefined, AbortSignal.timeout(RUN_MS));

  async function once(way: Way): Promise<Taken> {
    const { id } = await runner.request('run/start', { root, file, options: { provider: 'bubblewrap', seeds: String(episodes), concurrency: atOnce } });
    await runner.request('run/cancel', { root, id });
    await ended(id);
    const look = () => vscode.commands.executeCommand(Commands.openRun, { root, id });
    if (way === 'open') await look();
    await vscode.commands.executeCommand(way === 'sidebar' ? 'workbench.view.extension.rlSandboxes' : 'workbench.view.explorer');
    await delay(SETTLE_MS);
    const [before, began] = [await processorTime(pid), Date.now()];
    await runner.request('run/resume', { root, id });
    if (way === 'opening') await look();
    const { run } = await ended(id);
    const cpu = (await processorTime(pid)) - before;
    if (run.state !== 'done') throw new Error(`the run is ${run.state}: ${run.error ?? ''}`);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    return { wall: run.finishedAt! - began, cpu };
  }

  const taken = none();
  // One round more, for the build and for what is read from disk the first time.
  for (let round = -1; round < rounds; round++)
    for (const way of WAYS) {
      const one = await once(way);
      if (round >= 0) taken[way].push(one);
    }
  return { taken };
}

export async function run(): Promise<void> {
  const task = JSON.parse(process.env['RL_BENCH_HOST']!) as HostTask;
  const result = await measure(task).catch((error: unknown): HostResult => ({ taken: none(), error: String(error) }));
  // Whole when it is there.
  await writeFile(`${task.result}.part`, JSON.stringify(result));
  await rename(`${task.result}.part`, task.result);
}
