import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { findings } from './axe.js';
import { RunViewBrowser, until } from './page.js';

const sent = (page: Page, method: string) => page.evaluate<unknown>(`stub.requests.findLast(({ method }) => method === '${method}')?.params`);
const press = async (page: Page, ...keys: readonly string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
/** In the order of their numbers, once the first rows of that are there. */
const inOrder = async (page: Page) => {
  await page.getByRole('columnheader', { name: '#' }).getByRole('button').click();
  await until(page, `[0, 1, 2].every((index) => document.querySelector('.grid-body .row[data-index="' + index + '"]:not(.loading) .cell-episode').textContent === String(index))`);
};
const says = (page: Page, text: string) => until(page, `document.querySelector('.episode-count').textContent === '${text}'`);
const exported = async (page: Page, times: number) => {
  await until(page, `stub.requests.filter(({ method }) => method === 'export').length === ${times}`);
  return sent(page, 'export');
};

describe('selection of episodes in the run view', function () {
  this.timeout(120_000);
  let browser: RunViewBrowser;
  before(async () => (browser = await RunViewBrowser.launch()));
  after(() => browser.close());

  it('is made by keyboard, one by one or a stretch, is what is exported, and goes with Escape', async () => {
    const { page, complaints } = await browser.open({ total: 512 });
    await inOrder(page);
    await page.locator('.grid').focus();
    await press(page, 'ArrowDown', 'Control+Space', 'ArrowDown', 'ArrowDown', 'Control+Space');
    await says(page, '2 selected');
    await until(page, `[...document.querySelectorAll('.grid-body .row.marked')].map((row) => row.ariaSelected).join() === 'true,true'`);
    assert.deepEqual(await findings(page), []);
    await page.getByRole('button', { name: 'Export the selected episodes' }).click();
    assert.deepEqual(await exported(page, 1), { episodes: [0, 2] });
    await page.getByRole('button', { name: 'Compare the two traces' }).click();
    await until(page, `stub.requests.some(({ method }) => method === 'compareEpisodes')`);
    assert.deepEqual(await sent(page, 'compareEpisodes'), { a: 0, b: 2 });
    await page.locator('.grid').focus();
    await press(page, 'Escape');
    await says(page, '512 episodes');
    await press(page, 'Shift+ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowDown');
    await says(page, '4 selected');
    assert.equal(await page.getByRole('button', { name: 'Compare the two traces' }).count(), 0);
    await page.locator('[data-action="export"]').click();
    assert.deepEqual(await exported(page, 2), { episodes: [2, 3, 4, 5] });
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('reaches over rows that have not been fetched; with nothing selected, what the filter leaves is exported', async () => {
    const { page } = await browser.open({ total: 20_000 });
    await inOrder(page);
    await page.locator('.grid-body .row[data-index="0"]').click();
    await page.locator('.grid').focus();
    await press(page, 'End');
    await page.locator('.grid-body .row[data-index="19999"]:not(.loading)').waitFor();
    await page.locator('.grid').evaluate((grid) => (grid.scrollTop = 22 * 2400));
    const far = page.locator('.grid-body .row[data-index="2410"]:not(.loading)');
    await far.waitFor();
    await page.locator('.grid').evaluate((grid) => (grid.scrollTop = 0));
    await page.locator('.grid-body .row[data-index="0"]:not(.loading)').click();
    await page.locator('.grid').evaluate((grid) => (grid.scrollTop = 22 * 2400));
    await far.click({ modifiers: ['Shift'] });
    await says(page, '2411 selected');
    await page.getByRole('button', { name: 'Clear the selection' }).click();
    await page.locator('vscode-textfield input').fill('reward<0.1');
    await until(page, `document.querySelector('.episode-count').textContent.includes(' of 20,000 episodes')`);
    await page.locator('[data-action="export"]').click();
    assert.deepEqual(await exported(page, 1), { where: 'reward<0.1' });
    await page.context().close();
  });
});
