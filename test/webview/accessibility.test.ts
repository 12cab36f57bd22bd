import assert from 'node:assert/strict';
import { findings } from './axe.js';
import { RunViewBrowser, themeScript, until } from './page.js';
import { type ThemeName, THEMES } from './themes.js';

describe('run view, as axe sees it', function () {
  this.timeout(180_000);
  let browser: RunViewBrowser;
  before(async () => (browser = await RunViewBrowser.launch()));
  after(() => browser.close());

  for (const theme of Object.keys(THEMES) as ThemeName[]) {
    it(`has nothing serious in ${theme}`, async () => {
      const { page } = await browser.open({ total: 512, theme, width: 1400, trusted: false, run: { state: 'cancelled' } });
      assert.deepEqual(await findings(page), [], 'at first');
      await page.locator('vscode-single-select').click();
      await page.locator('vscode-single-select .option').nth(1).click();
      await page.locator('vscode-textfield input').fill('status:error');
      await until(page, `document.querySelector('.episode-count').textContent === '5 of 512 episodes'`);
      await page.locator('.grid-body .row[aria-rowindex="3"]').click();
      for (const tab of ['Output', 'Reward', 'Artifacts', 'Timing']) {
        await page.locator('vscode-tab-header', { hasText: tab }).click();
        assert.deepEqual(await findings(page), [], `with an episode's ${tab}`);
      }
      await page.locator('vscode-textfield input').fill('rewrad<1');
      await page.locator('.filter-error').waitFor();
      await page.locator('.filter-help-button').click();
      assert.deepEqual(await findings(page), [], 'with a filter that is wrong');
      await page.context().close();
    });
  }

  it('has nothing serious while running, narrow, or empty', async () => {
    for (const options of [
      { total: 512, finished: 100, run: { state: 'running', finishedAt: null } },
      { total: 512, width: 300 },
      { total: 512, finished: 0, run: { state: 'building', startedAt: null, finishedAt: null, snapshot: null } },
    ] as const) {
      const { page } = await browser.open(options, '.run-view rl-episode-grid');
      assert.deepEqual(await findings(page), []);
      await page.context().close();
    }
  });

  it('draws its charts in the colours of another theme as soon as it is chosen', async () => {
    const { page } = await browser.open({ total: 512, theme: 'dark' });
    const inkOf = (expression: string) => page.evaluate<string>(expression);
    // The most frequent colour of the canvas is that of the points.
    const ink = `(() => {
      const canvas = document.querySelector('.series-plot canvas');
      const { data } = canvas.getContext('2d').getImageData(60, 0, canvas.width - 60, canvas.height - 30);
      const counts = new Map();
      for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 120) { const key = data.slice(at, at + 3).join(); counts.set(key, (counts.get(key) ?? 0) + 1); }
      return [...counts].sort((a, b) => b[1] - a[1])[0][0];
    })()`;
    await until(page, ink);
    const dark = await inkOf(ink);
    await page.evaluate(themeScript('light'));
    await until(page, `${ink} !== ${JSON.stringify(dark)}`);
    await page.context().close();
  });

  it('moves nothing for those who asked for that', async () => {
    const { page } = await browser.open({ total: 512, finished: 0, run: { state: 'building', startedAt: null, finishedAt: null, snapshot: null } }, 'vscode-progress-bar');
    const animations = `document.querySelector('vscode-progress-bar').shadowRoot.getAnimations().length`;
    await until(page, `${animations} === 1`);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await until(page, `${animations} === 0`);
    await page.context().close();
  });

  it('can be read where the system chooses the colours', async () => {
    const { page } = await browser.open({ total: 512 });
    await page.emulateMedia({ forcedColors: 'active' });
    await page.locator('.grid-body .row[aria-rowindex="3"]').click();
    await until(page, `getComputedStyle(document.querySelector('.row[aria-selected="true"]')).outlineStyle === 'solid'`);
    assert.ok(await page.evaluate(`getComputedStyle(document.querySelector('.bar')).fill !== getComputedStyle(document.body).backgroundColor`));
    await page.context().close();
  });
});
