import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { findings } from '../axe.js';
import { themeScript, until } from '../page.js';
import { type ThemeName, THEMES } from '../themes.js';
import { TraceViewBrowser } from './page.js';

const shown = (page: Page, step: number) => until(page, `document.querySelector('.step-label').textContent === '${step}' && document.querySelector('.step').getAttribute('aria-busy') === 'false'`);

describe('trace view, as axe sees it', function () {
  this.timeout(180_000);
  let browser: TraceViewBrowser;
  before(async () => (browser = await TraceViewBrowser.launch()));
  after(() => browser?.close());

  for (const theme of Object.keys(THEMES) as ThemeName[]) {
    it(`has nothing serious in ${theme}`, async () => {
      const { page } = await browser.open({ theme, width: 1400, head: { problems: ['line 3: torn', 'line 9: torn'] } });
      await shown(page, 5);
      assert.deepEqual(await findings(page), [], 'a failing call');
      // The system's message, the user's, a model's with code, an edit with its files, a verifier's.
      await page.keyboard.press('Home');
      let at = 0;
      for (const step of [0, 1, 2, 3, 6, 7, 11]) {
        for (; at < step; at++) await page.keyboard.press('l');
        await shown(page, step);
        if (step === 6) await page.locator('.code-keyword').first().waitFor();
        if (step === 7) await page.locator('.files summary').first().press('Enter');
        assert.deepEqual(await findings(page), [], `step ${step}`);
      }
      await page.keyboard.press('r');
      await page.locator('.raw').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('division');
      await until(page, `document.querySelector('.search-status').textContent === '2 results'`);
      await page.keyboard.press('Enter');
      assert.deepEqual(await findings(page), [], 'raw, with a search');
      await page.keyboard.press('Escape');
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
      assert.deepEqual(await findings(page), [], 'the list of keys');
      await page.context().close();
    });
  }

  it('has nothing serious while running, narrow, with frames, or empty', async () => {
    for (const options of [{ begun: 6 }, { width: 300 }, { story: 'pole', steps: 40, start: 7 }, { head: { steps: 0 } }] as const) {
      const { page } = await browser.open(options, 'rl-trace-header h1');
      assert.deepEqual(await findings(page), [], JSON.stringify(options));
      await page.context().close();
    }
  });

  it('moves nothing for those who asked for that', async () => {
    const { page } = await browser.open({ begun: 6 });
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await until(page, `document.getAnimations().every(({ playState }) => playState !== 'running')`);
    await page.context().close();
  });

  it('draws its timeline in the colours of another theme as soon as it is chosen', async () => {
    const { page } = await browser.open({ theme: 'dark' });
    const pixel = `(() => { const canvas = document.querySelector('.timeline-track canvas'); return canvas.getContext('2d').getImageData(canvas.width - 20, 28, 1, 1).data.join(); })()`;
    await until(page, `${pixel} !== '0,0,0,0'`);
    const dark = await page.evaluate<string>(pixel);
    await page.evaluate(themeScript('light'));
    await until(page, `${pixel} !== ${JSON.stringify(dark)}`);
    await page.context().close();
  });

  it('can be read where the system chooses the colours', async () => {
    const { page } = await browser.open({});
    await page.emulateMedia({ forcedColors: 'active' });
    await until(page, `getComputedStyle(document.querySelector('.step-row[aria-selected="true"]')).outlineStyle === 'solid'`);
    await page.context().close();
  });
});
