import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { findings } from '../axe.js';
import { until } from '../page.js';
import { type ThemeName, THEMES } from '../themes.js';
import { CompareViewBrowser } from './page.js';

const LEFT = { onlyA: 3, onlyB: 2, unscored: 4 };
const cells = (page: Page, row: number) => page.locator(`.pair-body [data-index="${row}"] [role="gridcell"]`).allTextContents();
const cursorAt = (page: Page, row: number) => until(page, `document.querySelector('.pair-grid').getAttribute('aria-activedescendant') === 'pair-${row}' && document.getElementById('pair-${row}') !== null`);
const lastRequest = (page: Page, method: string) => page.evaluate<unknown>(`compareStub.requests.findLast(({ method }) => method === '${method}')?.params`);

describe('comparison of two runs', function () {
  this.timeout(180_000);
  let browser: CompareViewBrowser;
  before(async () => (browser = await CompareViewBrowser.launch()));
  after(() => browser.close());

  it('says the difference, whether it could be chance, what was left out, and what was not asked the same', async () => {
    const { page, complaints } = await browser.open({ seeds: 512, left: LEFT, differences: [{ what: 'snapshot', a: '8f31', b: '1b77' }] });
    assert.match((await page.locator('.verdict').textContent())!, /b − a\s*\+0\.0\d+ ± 0\.0\d+\s*p\s*≤ 0\.0001\s*mean of a\s*0\.\d{4}\s*mean of b\s*0\.\d{4}\s*std\s*0\.\d+\s*pairs\s*503/);
    assert.match((await page.locator('.left-out').textContent())!, /3 only in a, 2 only in b, 4 without a reward/);
    assert.match((await page.locator('.difference').textContent())!, /The snapshots differ: 8f31 and 1b77\./);
    const counts = (await page.locator('.kinds button .figures').allTextContents()).map(Number);
    assert.equal(counts.slice(0, 3).reduce((sum, count) => sum + count, 0), 503);
    assert.equal(counts[3], 9);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('goes through the seeds by keyboard, from the worst on, and opens both episodes of one', async () => {
    const { page, complaints } = await browser.open({ seeds: 512 });
    const first = Number((await cells(page, 0))[3]!.replace('−', '-'));
    assert.ok(first < 0 && first <= Number((await cells(page, 1))[3]));
    await page.locator('.pair-grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await cursorAt(page, 2);
    const seed = Number((await cells(page, 2))[0]);
    await page.keyboard.press('Enter');
    await until(page, `compareStub.requests.some(({ method }) => method === 'openEpisodes')`);
    assert.deepEqual(await lastRequest(page, 'openEpisodes'), { a: seed, b: seed });
    await page.keyboard.press('End');
    await cursorAt(page, 511);
    assert.ok(Number((await cells(page, 511))[3]) > 0);
    await page.keyboard.press('Home');
    await cursorAt(page, 0);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('shows only seeds of a kind, sorts by any column, and finds both again after a reload', async () => {
    const { page } = await browser.open({ seeds: 300, left: LEFT });
    await page.locator('[data-kind="unpaired"]').focus();
    await page.keyboard.press('Enter');
    await until(page, `document.querySelector('.pair-grid').getAttribute('aria-rowcount') === '10'`);
    await page.getByRole('columnheader', { name: 'seed' }).getByRole('button').click();
    await until(page, `document.querySelector('#pair-0 [role="gridcell"]').textContent === '0'`);
    assert.deepEqual((await cells(page, 0)).slice(2), ['—', '—', 'only in a']);
    assert.deepEqual((await cells(page, 3)).slice(2), ['—', '—', 'no reward in b']);
    await page.reload();
    await until(page, `document.querySelector('.pair-grid')?.getAttribute('aria-rowcount') === '10' && document.querySelector('[data-kind="unpaired"]').ariaPressed === 'true'`);
    await page.context().close();
  });

  it('fetches no more seeds than are near, of however many', async () => {
    const { page } = await browser.open({ seeds: 20_000 });
    await page.locator('.pair-grid').focus();
    await page.keyboard.press('End');
    await cursorAt(page, 19_999);
    assert.ok(await page.evaluate(`document.querySelectorAll('.pair-body .pair-row').length <= 200 && compareStub.requests.filter(({ method }) => method === 'pairs').length < 8`));
    await page.context().close();
  });

  it('takes in what a run that goes on has finished since, and says what cannot be read', async () => {
    const { page } = await browser.open({ seeds: 100 });
    await page.evaluate('compareStub.take(140), compareStub.changed()');
    await until(page, `document.querySelector('.pair-grid').getAttribute('aria-rowcount') === '141'`);
    await page.evaluate(`compareStub.failing.set('comparison', 'there is no run run-3'), compareStub.changed()`);
    await page.getByRole('alert').waitFor();
    assert.match((await page.getByRole('alert').textContent())!, /there is no run run-3/);
    await page.context().close();
  });

  it('has nothing that axe finds serious, in any theme, wide and narrow, also where there is nothing to compare', async () => {
    for (const options of [...(Object.keys(THEMES) as ThemeName[]).map((theme) => ({ theme })), { width: 300 }, { left: { onlyA: 64, onlyB: 0, unscored: 0 } }]) {
      const { page } = await browser.open({ seeds: 64, differences: [{ what: 'policy', a: 'llm', b: 'oracle' }], ...options });
      await page.locator('.pair-grid').focus();
      assert.deepEqual(await findings(page), [], JSON.stringify(options));
      await page.context().close();
    }
  });
});
