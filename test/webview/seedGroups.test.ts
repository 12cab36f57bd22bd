import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { findings } from './axe.js';
import { sees } from '../support/sees.js';
import { RunViewBrowser, until } from './page.js';
import { type ThemeName, THEMES } from './themes.js';

const SAMPLED = { total: 512, run: { samples: 8, seeds: { first: 0, last: 63 } } };

const filter = (page: Page) => page.locator('vscode-textfield input').inputValue();
const groupBySeed = async (page: Page) => {
  await page.locator('vscode-single-select').click();
  await page.locator('vscode-single-select .option').nth(3).click();
  await page.waitForSelector('.seed-body .sample');
};
const filtersTo = (page: Page, text: string) => until(page, `document.querySelector('vscode-textfield').value === ${JSON.stringify(text)}`);

describe('run view of a run with several samples for each seed', function () {
  this.timeout(120_000);
  let browser: RunViewBrowser;
  before(async () => (browser = await RunViewBrowser.launch()));
  after(() => browser.close());

  it('says pass@k, groups without signal and advantages, which one sample for each seed does not have', async () => {
    const { page, complaints } = await browser.open(SAMPLED);
    assert.match((await page.locator('.pass-at-k').getAttribute('aria-label'))!, /^pass@1: 0\.0 % \(no interval\), 64 seeds; .* 0 of 64 groups without signal/);
    assert.equal(await page.getByRole('columnheader', { name: 'advantage' }).count(), 1);
    const { page: single } = await browser.open({ total: 64 });
    assert.equal(await single.locator('.pass-at-k').count(), 0);
    assert.equal(await single.getByRole('columnheader', { name: 'advantage' }).count(), 0);
    await single.locator('vscode-single-select').click();
    await sees(() => single.locator('vscode-single-select .option').count(), 3);
    assert.deepEqual(complaints, []);
    await page.context().close();
    await single.context().close();
  });

  it('has advantages that add up to 0 in each group, and sorts by them', async () => {
    const { page } = await browser.open(SAMPLED);
    await page.locator('vscode-textfield input').fill('seed:1');
    await until(page, `document.querySelector('.episode-count').textContent === '8 of 512 episodes'`);
    await until(page, `document.querySelectorAll('.grid-body .row:not(.loading)').length === 8`);
    const advantages = (await page.locator('.grid-body .cell-advantage').allTextContents()).map(Number);
    assert.ok(Math.abs(advantages.reduce((sum, value) => sum + value, 0)) < 0.01);
    await page.getByRole('columnheader', { name: 'advantage' }).getByRole('button').click();
    const lowest = Math.min(...advantages);
    await until(page, `Number(document.querySelector('.grid-body .row[aria-rowindex="2"] .cell-advantage').textContent) === ${lowest}`);
    await page.context().close();
  });

  it('goes through seeds and samples by keyboard, and filters by them', async () => {
    const { page, complaints } = await browser.open(SAMPLED);
    await groupBySeed(page);
    await page.locator('.seed-grid').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
    await filtersTo(page, 'seed:2 sample:1');
    await until(page, `document.querySelector('.episode-count').textContent === '1 of 512 episodes'`);
    await until(page, `document.getElementById(document.querySelector('.seed-grid').getAttribute('aria-activedescendant')).ariaSelected === 'true'`);
    assert.match((await page.locator('.seed-readout').textContent())!, /^seed 2, sample 1: reward 0\.\d+, advantage [+-]\d/);
    await page.keyboard.press('Enter');
    await filtersTo(page, '');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await filtersTo(page, 'seed:63 sample:1');
    assert.equal(await filter(page), 'seed:63 sample:1');
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('fetches no more seeds than are near, of however many', async () => {
    const { page } = await browser.open({ total: 20_000, run: { samples: 4, seeds: { first: 0, last: 4999 } } });
    await groupBySeed(page);
    await page.getByRole('columnheader', { name: 'mean' }).getByRole('button').click();
    await page.locator('.seed-grid').focus();
    await page.keyboard.press('End');
    await page.waitForSelector('.seed-row[aria-rowindex="5001"]');
    assert.ok((await page.locator('.seed-body .seed-row').count()) <= 100);
    await page.context().close();
  });

  it('does not show a missing reward as a low one', async () => {
    const { page } = await browser.open({ ...SAMPLED, details: { 3: { record: { reward: null } } } });
    await groupBySeed(page);
    const cell = page.locator('#seed-0-3');
    assert.match((await cell.getAttribute('aria-label'))!, /no reward$/);
    assert.equal(await page.evaluate(`getComputedStyle(document.getElementById('seed-0-3')).backgroundColor`), 'rgba(0, 0, 0, 0)');
    await page.context().close();
  });

  it('shows rewards by seed', async () => {
    const { page } = await browser.open({ total: 64 });
    await page.locator('.series-switch').click();
    await page.waitForSelector('rl-seed-series canvas');
    assert.equal(await page.locator('rl-seed-series .series-plot').getAttribute('aria-label'), 'Rewards by seed, of 64 seeds.');
    await until(page, `document.activeElement.className === 'series-switch'`);
    await page.context().close();
  });

  for (const theme of Object.keys(THEMES) as ThemeName[]) {
    it(`has nothing serious for axe in ${theme}`, async () => {
      const { page } = await browser.open({ ...SAMPLED, theme, run: { ...SAMPLED.run, state: 'cancelled' } });
      await groupBySeed(page);
      assert.deepEqual(await findings(page), []);
      await page.context().close();
    });
  }
});
