/** The engine outlives windows, and windows share it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import type { RunnerStatus } from '../../src/runner/api.js';
import { RUNNER_FOLDER } from '../support/runner.js';
import { sees } from '../support/sees.js';
import { extensionHost } from '../support/vscode.js';
import { tellStory } from './story.js';
import { Workbench } from './workbench.js';

/** More than any of the tests sees the end of. */
const SEEDS = 1000;
/** What the window, the engine and the disk take for it, on a busy machine. */
const PATIENCE_MS = 120_000;
const STEADY = `name: steady\nepisode:\n  run: sleep 2.5; echo 0.5\n  seeds: ${SEEDS}\n`;

describe('the engine behind windows of VS Code', function () {
  this.timeout(240_000);
  const story = tellStory(8, { extension: process.cwd(), settings: { 'rlSandboxes.concurrency': 3 } }, { steady: STEADY });

  const status = async (): Promise<RunnerStatus> => {
    const env = { ...process.env, [RUNNER_FOLDER]: story.code.runner };
    return JSON.parse((await promisify(execFile)(process.execPath, [resolve('dist/cli.mjs'), 'runner', 'status', '--json'], { env })).stdout) as RunnerStatus;
  };
  const statusBar = (page: Page) => page.locator('.statusbar-item', { hasText: /steady #\d+\s+\d+\/\d+/ });
  /** The newest run on disk. */
  const last = async () => (await story.workspace.runs()).at(-1)!;
  const landed = async () => (await last()).episodes.length;
  /** Until the run has more episodes on disk than it had. */
  const goesOn = async (before: number) => sees(async () => (await landed()) > before, true, PATIENCE_MS);

  /** Starts the run with this number. */
  async function begin(number: number): Promise<void> {
    const { workbench } = story;
    await workbench.openView();
    await workbench.press(workbench.template('steady'), 'Run');
    await workbench.run('steady', number).waitFor();
    await statusBar(workbench.page).waitFor();
    await workbench.runView.waitForState(/running/i);
  }

  async function cancel(number: number, { workbench } = story): Promise<void> {
    await workbench.press(workbench.run('steady', number), 'Cancel Run');
    await story.workbench.runView.waitForState(/cancelled/i);
    await statusBar(story.workbench.page).waitFor({ state: 'detached' });
  }

  it('goes on with a run when its window is reloaded, and the window takes up where it is', async () => {
    await begin(1);
    const { workbench } = story;
    const { pid } = await status();
    await workbench.runView.rows.first().waitFor();
    await workbench.reload();
    await statusBar(workbench.page).waitFor();
    await goesOn(await landed());
    assert.equal((await status()).pid, pid);
    await workbench.openView();
    await workbench.run('steady', 1).and(workbench.page.getByRole('treeitem', { name: /running/ })).waitFor();
    await cancel(1);
    assert.equal((await status()).pid, pid);
  });

  it('shows two windows the same run, and either can cancel it', async () => {
    const { code, workbench } = story;
    const page = await code.page.context().browser()!.newPage({ viewport: { width: 1280, height: 800 } });
    try {
      await page.goto(code.url);
      const other = new Workbench(page);
      await other.openView();
      await other.run('steady', 1).waitFor();
      await begin(2);
      await other.run('steady', 2).waitFor();
      await statusBar(page).waitFor();
      await sees(async () => (await status()).connections, 2, PATIENCE_MS);
      const count = async (window: Page) => Number(/(\d+)\/\d+/.exec((await statusBar(window).innerText()))![1]);
      for (let look = 0; look < 3; look++) {
        const shown = await count(workbench.page);
        // The other window comes to show what this one does.
        await sees(async () => (await count(page)) >= shown, true, PATIENCE_MS);
      }
      await cancel(2, { ...story, workbench: other });
      await statusBar(page).waitFor({ state: 'detached' });
    } finally {
      await page.close();
    }
  });

  it('goes on with a run when the extension host of its window is killed, and the window finds it again', async () => {
    await begin(3);
    const { workbench, code } = story;
    const { pid } = await status();
    await workbench.runView.rows.first().waitFor();
    process.kill(await extensionHost(code.pid), 'SIGKILL');
    await sees(async () => (await status()).connections, 0, PATIENCE_MS);
    await goesOn(await landed());
    // VS Code starts no other by itself for an extension that is loaded from its sources.
    await workbench.reload();
    await workbench.openView();
    await statusBar(workbench.page).waitFor();
    assert.equal((await status()).pid, pid);
  });

  it('offers to resume the run when the engine is killed, and then runs what is missing alone', async () => {
    const { workbench } = story;
    const names = async () => (await last()).episodes.map(({ seed, startedAt }) => `${seed} ${startedAt}`);
    const { pid } = await status();
    process.kill(pid, 'SIGKILL');
    // The driver that tests need shows no toasts.
    await workbench.command('Notifications: Show Notifications');
    const offer = workbench.page.locator('.notification-list-item', { hasText: new RegExp(`steady #3 was interrupted; \\d+ of ${SEEDS} episodes are kept`) });
    await offer.getByRole('button', { name: 'Resume' }).waitFor();
    const kept = await names();
    await offer.getByRole('button', { name: 'Resume' }).click();
    await goesOn(kept.length + 3);
    await cancel(3);
    assert.deepEqual((await names()).slice(0, kept.length), kept, 'what had finished is as it was');
    const seeds = (await last()).episodes.map(({ seed }) => seed);
    assert.equal(new Set(seeds).size, seeds.length, 'no episode ran twice');
  });
});
