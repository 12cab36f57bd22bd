/** From the open folder to the mean reward, as a new user goes. */
import assert from 'node:assert/strict';
import { sees } from '../support/sees.js';
import { tellStory } from './story.js';

const SEEDS = 64;

const numbers = (column: readonly string[]) => column.map(Number);
const ascending = (values: readonly number[]) => [...values].sort((a, b) => a - b);

describe('hello in VS Code', function () {
  this.timeout(240_000);
  const story = tellStory(SEEDS);

  it('runs from one click in the view to its end', async () => {
    const { workbench } = story;
    await workbench.openView();
    await workbench.press(workbench.template('hello'), 'Run');
    await workbench.run('hello', 1).waitFor();
    await workbench.runView.waitForState(/finished/i);
  });

  it('shows the mean of the rewards that lie on disk', async () => {
    await sees(async () => (await story.workspace.runs())[0]?.run.state, 'done');
    const [first] = await story.workspace.runs();
    const rewards = first!.episodes.map(({ reward }) => reward);
    assert.equal(rewards.length, SEEDS);
    assert.ok(rewards.every((reward) => typeof reward === 'number'), 'every episode has a reward');
    const mean = rewards.reduce<number>((sum, reward) => sum + reward, 0) / SEEDS;
    const shown = /^(\d+\.(\d+)) ± \d/.exec((await story.workbench.runView.mean.innerText()).trim());
    assert.ok(shown, 'the mean is shown with its interval');
    assert.equal(shown[1], mean.toFixed(shown[2]!.length));
  });

  it('says the same in the sidebar', async () => {
    const { page, run } = { page: story.code.page, run: story.workbench.run('hello', 1) };
    // It hears of it a moment after the run view.
    await run.and(page.locator(`[aria-label^="Run hello #1, ${SEEDS}/${SEEDS}"]`)).waitFor();
    const label = await run.getAttribute('aria-label');
    assert.match(label ?? '', new RegExp(`^Run hello #1, ${SEEDS}/${SEEDS}\\s+0\\.\\d+ ± `));
    await story.workbench.sandboxes.first().waitFor({ state: 'detached' });
  });

  it('sorts the table by a press on a heading', async () => {
    const { runView } = story.workbench;
    const [first] = await story.workspace.runs();
    const rewards = ascending(first!.episodes.map(({ reward }) => reward!));
    await runView.sortBy('reward');
    await runView.frame.locator('[role=columnheader][aria-sort=ascending]', { hasText: 'reward' }).waitFor();
    await runView.rows.first().filter({ hasText: rewards[0]!.toFixed(4) }).waitFor();
    const lowest = numbers(await runView.column('reward'));
    assert.ok(lowest.length > 3, `some rows are on screen: ${lowest.length}`);
    assert.deepEqual(lowest, rewards.slice(0, lowest.length).map((reward) => Number(reward.toFixed(4))));

    await runView.sortBy('reward');
    await runView.frame.locator('[role=columnheader][aria-sort=descending]', { hasText: 'reward' }).waitFor();
    await runView.rows.first().filter({ hasText: rewards.at(-1)!.toFixed(4) }).waitFor();
    const highest = numbers(await runView.column('reward'));
    assert.deepEqual(highest, rewards.toReversed().slice(0, highest.length).map((reward) => Number(reward.toFixed(4))));
  });

  it('opens an episode and shows what it wrote', async () => {
    const { runView } = story.workbench;
    const [number] = await runView.column('episode');
    await runView.rows.first().click();
    const [first] = await story.workspace.runs();
    const record = first!.episodes.find(({ episode }) => episode === Number(number))!;
    const pane = runView.frame.getByRole('region', { name: `Episode ${number}`, exact: true });
    await pane.getByText(`seed ${record.seed}`).waitFor();
    const output = await pane.locator('[data-stream=stdout] pre').innerText();
    assert.equal(Number(output.trim().split('\n').at(-1)), record.reward, 'the last line that was printed is the reward');
  });

  it('is there again after the window was reloaded', async () => {
    const { workbench } = story;
    const mean = await workbench.runView.mean.innerText();
    const label = await workbench.run('hello', 1).getAttribute('aria-label');
    await workbench.reload();
    await workbench.runView.mean.filter({ hasText: mean.trim() }).waitFor();
    await workbench.runView.pane.waitFor();
    // The order is kept.
    await workbench.runView.frame.locator('[role=columnheader][aria-sort=descending]', { hasText: 'reward' }).waitFor();
    await workbench.openView();
    await workbench.run('hello', 1).waitFor();
    await sees(() => workbench.run('hello', 1).getAttribute('aria-label'), label);
  });
});

describe('hello with all of its episodes', function () {
  this.timeout(240_000);
  const story = tellStory(512);

  it('shows rewards while they land and a mean at the end', async () => {
    const { workbench } = story;
    await workbench.openView();
    await workbench.press(workbench.template('hello'), 'Run');
    const { runView } = workbench;
    // A window that is slow to open may come too late to see it run.
    await runView.waitForState(/running|finished/i);
    const count = runView.frame.locator('.count-total');
    await count.filter({ hasText: /^\s*[1-9]\d*\s*\/\s*512\s*$/ }).waitFor();
    await runView.waitForState(/finished/i);
    await count.filter({ hasText: /^\s*512\s*\/\s*512\s*$/ }).waitFor();
    assert.match((await runView.mean.innerText()).trim(), /^0\.\d+ ± 0\.\d+$/);
    const [first] = await story.workspace.runs();
    assert.equal(first?.episodes.length, 512);
  });
});
