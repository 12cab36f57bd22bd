/** The engine outlives windows, and windows share it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import type { RunnerStatus } from '../../src/runner/api.js';
import { RUNNER_FOLDER } from '../support/runner.js';
import { extensionHost } from '../support/vscode.js';
import { tellStory } from './story.js';
import { Workbench } from './workbench.js';

const SEEDS = 45;
/** For what no event tells of. */
async function poll(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 120_000; !(await holds()); await delay(100)) assert.ok(Date.now() < deadline, `waited two minutes for ${what}`);
}

const STEADY = `name: steady\nepisode:\n  run: sleep 2.5; echo 0.5\n  seeds: ${SEEDS}\n`;

describe('the engine behind windows of VS Code', function () {
  this.timeout(240_000);
  const story = tellStory(8, { extension: process.cwd(), settings: { 'rlSandboxes.concurrency': 3 } }, { steady: STEADY });

  const status = async (): Promise<RunnerStatus> => {
    const env = { ...process.env, [RUNNER_FOLDER]: story.code.runner };
    return JSON.parse((await promisify(execFile)(process.execPath, [resolve('dist/cli.mjs'), 'runner', 'status', '--json'], { env })).stdout) as RunnerStatus;
  };
  const statusBar = (page: Page) => page.locator('.statusbar-item', { hasText: /steady #\d+\s+\d+\/\d+/ });
  /** Episodes on disk of the newest run: each once. */
  const seedsOfLast = async () => (await story.workspace.runs()).at(-1)!.episodes.map(({ seed }) => seed).sort((a, b) => a - b);
  const all = Array.from({ length: SEEDS }, (_, index) => index);

  async function begin(): Promise<void> {
    const { workbench } = story;
    await workbench.openView();
    await workbench.press(workbench.template('steady'), 'Run');
    await statusBar(workbench.page).waitFor();
    await workbench.runView.waitForState(/running/i);
  }

  it('goes on with a run when its window is reloaded, and the window takes up where it is', async () => {
    await begin();
    const { workbench } = story;
    const { pid } = await status();
    await workbench.runView.rows.first().waitFor();
    await workbench.reload();
    await statusBar(workbench.page).waitFor();
    assert.equal((await status()).pid, pid);
    await workbench.openView();
    await workbench.run('steady', 1).and(workbench.page.getByRole('treeitem', { name: /running/ })).waitFor();
    await workbench.runView.waitForState(/finished/i);
    await statusBar(workbench.page).waitFor({ state: 'detached' });
    assert.deepEqual(await seedsOfLast(), all);
    assert.equal((await status()).pid, pid);
  });

  it('shows two windows the same run within a second, and either can cancel it', async () => {
    const { code, workbench } = story;
    const page = await code.page.context().browser()!.newPage({ viewport: { width: 1280, height: 800 } });
    try {
      await page.goto(code.url);
      const other = new Workbench(page);
      await other.openView();
      await other.run('steady', 1).waitFor();
      await begin();
      await other.run('steady', 2).waitFor();
      await statusBar(page).waitFor();
      assert.equal((await status()).connections, 2);
      const count = async (window: Page) => Number(/(\d+)\/\d+/.exec((await statusBar(window).innerText()))![1]);
      for (let look = 0; look < 3; look++) {
        const shown = await count(workbench.page);
        // What one window shows, the other shows a second later, or more.
        await delay(1000);
        assert.ok((await count(page)) >= shown, 'the other window is behind');
      }
      await other.press(other.run('steady', 2), 'Cancel Run');
      await workbench.runView.waitForState(/cancelled/i);
      for (const window of [workbench.page, page]) await statusBar(window).waitFor({ state: 'detached' });
    } finally {
      await page.close();
    }
  });

  it('goes on with a run when the extension host of its window is killed, and the window finds it again', async () => {
    await begin();
    const { workbench, code } = story;
    const { pid } = await status();
    await workbench.runView.rows.first().waitFor();
    process.kill(await extensionHost(code.pid), 'SIGKILL');
    const finished = (await seedsOfLast()).length;
    await poll('the window to be gone and the run to go on', async () => (await status()).connections === 0 && (await seedsOfLast()).length > finished);
    // VS Code starts no other by itself for an extension that is loaded from its sources.
    await workbench.reload();
    await workbench.openView();
    await statusBar(workbench.page).waitFor();
    assert.equal((await status()).pid, pid);
  });

  it('offers to resume the run when the engine is killed, and then runs what is missing alone', async () => {
    const { workbench } = story;
    const kept = (await story.workspace.runs()).at(-1)!.episodes.map(({ seed, startedAt }) => `${seed} ${startedAt}`);
    assert.ok(kept.length < SEEDS, 'the run ended before the engine was killed');
    process.kill((await status()).pid, 'SIGKILL');
    // The driver that tests need shows no toasts.
    await workbench.command('Notifications: Show Notifications');
    const offer = workbench.page.locator('.notification-list-item', { hasText: /steady #\d+ was interrupted; \d+ of 45 episodes are kept/ });
    await offer.getByRole('button', { name: 'Resume' }).click();
    await poll('the run to be done', async () => (await story.workspace.runs()).at(-1)!.run.state === 'done');
    const { episodes } = (await story.workspace.runs()).at(-1)!;
    assert.deepEqual(await seedsOfLast(), all);
    const again = new Set(episodes.map(({ seed, startedAt }) => `${seed} ${startedAt}`));
    assert.deepEqual(kept.filter((episode) => !again.has(episode)), []);
  });
});
