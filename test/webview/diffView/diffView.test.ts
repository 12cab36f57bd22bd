import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { findings } from '../axe.js';
import { until } from '../page.js';
import { type ThemeName, THEMES } from '../themes.js';
import { DiffViewBrowser } from './page.js';

const selected = (page: Page, row: number) => until(page, `document.querySelector('.diff-rows')?.getAttribute('aria-activedescendant') === 'diff-row-${row}'`);
const labels = (page: Page, first: string, second: string) =>
  until(page, `[...document.querySelectorAll('rl-diff-side .step-label')].map(({ textContent }) => textContent.trim()).join() === '${[`a ${first}`.trim(), `b ${second}`.trim()].join()}'`);

describe('comparison of two traces', function () {
  this.timeout(180_000);
  let browser: DiffViewBrowser;
  before(async () => (browser = await DiffViewBrowser.launch()));
  after(() => browser.close());

  it('opens on the first difference, and goes from one to the next by keyboard', async () => {
    const { page, complaints } = await browser.open({});
    await selected(page, 3);
    await labels(page, '3', '3');
    assert.match((await page.locator('.diff-bar').textContent())!, /4 of 12 rows differ\s*first difference\s*first other action/);
    await page.keyboard.press('n');
    await selected(page, 6);
    assert.match((await page.locator('#diff-row-6').textContent())!, /differs: action, observation/);
    await page.keyboard.press('ArrowDown');
    await labels(page, '7', '');
    assert.match((await page.locator('rl-diff-side').nth(1).textContent())!, /There is no such step here/);
    await page.keyboard.press('n');
    await selected(page, 11);
    await page.keyboard.press('n');
    await until(page, `document.querySelector('.said').textContent.includes('No difference after this step.')`);
    await page.keyboard.press('a');
    await page.keyboard.press('p');
    await selected(page, 6);
    await page.keyboard.press('p');
    await until(page, `document.querySelector('.said').textContent.includes('No difference before this step.')`);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('opens both traces at the step, and both steps as texts', async () => {
    const { page } = await browser.open({});
    await selected(page, 3);
    await page.keyboard.press('Enter');
    await until(page, `diffStub.requests.filter(({ method }) => method === 'openTrace').length === 2`);
    await page.keyboard.press('d');
    await until(page, `diffStub.requests.some(({ method }) => method === 'openDiff')`);
    const asked = await page.evaluate<unknown>(`diffStub.requests.filter(({ method }) => method.startsWith('open')).map(({ method, params }) => [method, params])`);
    assert.deepEqual(asked, [['openTrace', { side: 'a', step: 3 }], ['openTrace', { side: 'b', step: 3 }], ['openDiff', { a: 3, b: 3 }]]);
    await page.context().close();
  });

  it('fetches no more rows than are near, says how much was compared, and is where it was after a reload', async () => {
    const { page } = await browser.open({ steps: 12_000, compared: { a: 10_000, b: 10_000 } });
    await selected(page, 500);
    assert.match((await page.locator('.diff-bar').textContent())!, /Compared: 10,000 steps of a, 10,000 of b/);
    await page.keyboard.press('End');
    await selected(page, 11_999);
    assert.ok(await page.evaluate(`document.querySelectorAll('.diff-row').length <= 200 && diffStub.requests.filter(({ method }) => method === 'rows').length < 8`));
    await page.reload();
    await until(page, `document.querySelector('.diff-rows')?.getAttribute('aria-activedescendant') === 'diff-row-11999'`);
    await page.context().close();
  });

  it('says what cannot be read, and tries again', async () => {
    const { page } = await browser.open({ script: `diffStub.failing.set('comparison', 'b.jsonl is no trace')` }, '[role="alert"]');
    assert.match((await page.getByRole('alert').textContent())!, /Failed to compare the traces: b\.jsonl is no trace/);
    await page.evaluate(`diffStub.failing.clear()`);
    await page.getByRole('button', { name: 'Retry' }).click();
    await selected(page, 3);
    await page.context().close();
  });

  it('has nothing that axe finds serious, in any theme, wide and narrow', async () => {
    for (const options of [...(Object.keys(THEMES) as ThemeName[]).map((theme) => ({ theme, width: 1400 })), { width: 300 }]) {
      const { page } = await browser.open(options);
      await selected(page, 3);
      await page.waitForSelector('rl-diff-side .block');
      assert.deepEqual(await findings(page), [], JSON.stringify(options));
      await page.context().close();
    }
  });
});
