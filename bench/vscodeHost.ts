/** Runs inside VS Code's extension host: the same run again and again, in turns with its run view open and without one. */
import { rename, writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { TestApi } from '../src/extension/activate.js';
import { Commands } from '../src/extension/ids.js';

/** What `RL_BENCH_HOST` holds, as JSON. */
export interface HostTask {
  readonly root: string;
  readonly file: string;
  readonly rounds: number;
  readonly episodes: number;
  readonly atOnce: number;
  /** Where the result goes. */
  readonly result: string;
}

/** Duration of each run, ms; or why there is none. */
export interface HostResult {
  readonly watched: number[];
  readonly alone: number[];
  readonly error?: string;
}

const RUN_MS = 120_000;

async function measure({ root, file, rounds, episodes, atOnce }: HostTask): Promise<HostResult> {
  const api = await vscode.extensions.getExtension<TestApi>('rl-sandboxes.rl-sandboxes')?.activate();
  if (!api) throw new Error('the extension is not there');
  const { runner, runs } = api.services;
  const times: HostResult = { watched: [], alone: [] };
  // One round more, for the build and for what is read from disk the first time.
  for (let round = -1; round < rounds; round++) {
    for (const watched of [false, true]) {
      const { id } = await runner.request('run/start', { root, file, options: { provider: 'bubblewrap', seeds: String(episodes), concurrency: atOnce } });
      if (watched) await vscode.commands.executeCommand(Commands.openRun, { root, id });
      const { run } = await runs.ended({ root, id }, () => undefined, AbortSignal.timeout(RUN_MS));
      if (run.state !== 'done') throw new Error(`the run is ${run.state}: ${run.error ?? ''}`);
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      if (round >= 0) (watched ? times.watched : times.alone).push(run.finishedAt! - run.startedAt!);
    }
  }
  return times;
}

export async function run(): Promise<void> {
  const task = JSON.parse(process.env['RL_BENCH_HOST']!) as HostTask;
  const result = await measure(task).catch((error: unknown) => ({ watched: [], alone: [], error: String(error) }));
  // Whole when it is there.
  await writeFile(`${task.result}.part`, JSON.stringify(result));
  await rename(`${task.result}.part`, task.result);
}
