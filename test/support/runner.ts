/** Ends the runner that a VS Code under test has started, which outlives it. */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

export const RUNNER_FOLDER = 'RL_SANDBOXES_RUNTIME_DIR';

/** `folder` is the place of the runner; what it runs is cancelled. */
export async function stopRunner(folder: string): Promise<void> {
  await promisify(execFile)(process.execPath, [resolve('dist/cli.mjs'), 'runner', 'stop', '--force'], { env: { ...process.env, [RUNNER_FOLDER]: folder }, timeout: 60_000 });
}
