/** Pictures of the run view for a person to look at, in out/screens: `npx tsx test/webview/screens.ts [part of a name]`. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type OpenOptions, RunViewBrowser, until } from './page.js';
import { type ThemeName, THEMES } from './themes.js';
import { takePictures } from './pictures.js';

const OUT = join(import.meta.dirname, '../../out/screens');
const THEME_NAMES = Object.keys(THEMES) as ThemeName[];

interface Scene extends OpenOptions {
  readonly name: string;
  readonly until?: string;
  readonly act?: (page: Page) => Promise<void>;
}

const openEpisode = async (page: Page, row = 6) => {
  await page.locator('.grid-body .row').nth(row).click();
  await page.waitForSelector('rl-episode-output pre');
};
const sortByReward = async (page: Page) => {
  await page.getByRole('columnheader', { name: 'reward' }).getByRole('button').click();
  await page.waitForSelector('[aria-sort="ascending"]');
};
const groupByCause = async (page: Page) => {
  await page.locator('vscode-single-select').click();
  await page.locator('vscode-single-select .option').nth(1).click();
  await page.waitForSelector('.groups');
};
const groupBySeed = async (page: Page) => {
  await page.locator('vscode-single-select').click();
  await page.locator('vscode-single-select .option').nth(3).click();
  await page.waitForSelector('.seed-body .sample');
  await page.locator('.series-switch').click();
  await page.locator('.seed-body .sample').nth(13).click();
  await page.locator('.seed-body .sample').nth(13).hover();
};
const failed: NonNullable<OpenOptions['details']> = Object.fromEntries([6, 47].map((episode) => [episode, {}]));

const SCENES: readonly Scene[] = [
  ...THEME_NAMES.map((theme) => ({
    name: theme,
    theme,
    total: 512,
    width: 1400,
    act: async (page: Page) => {
      await groupByCause(page);
      await sortByReward(page);
      await openEpisode(page);
    },
  })),
  ...THEME_NAMES.map((theme) => ({ name: `narrow-${theme}`, theme, total: 512, width: 300, height: 900 })),
  { name: 'narrow-pane', total: 512, width: 300, height: 1000, act: openEpisode },
  { name: 'wide', total: 20_000, width: 2000, height: 1100, act: async (page) => openEpisode(page, 10) },
  { name: 'wide-light', theme: 'light', total: 20_000, width: 2000, height: 1100, run: { samples: 4, seeds: { first: 0, last: 4999 } } },
  ...THEME_NAMES.map((theme) => ({ name: `seeds-${theme}`, theme, total: 512, width: 1200, height: 1000, run: { samples: 8, seeds: { first: 0, last: 63 } }, act: groupBySeed })),
  { name: 'seeds-narrow', total: 512, width: 300, height: 1400, run: { samples: 8, seeds: { first: 0, last: 63 } }, act: groupBySeed },
  { name: 'seeds-wide', total: 2000, width: 2000, height: 1100, run: { samples: 16, seeds: { first: 0, last: 124 } }, act: groupBySeed },
  { name: 'running', total: 512, finished: 214, run: { state: 'running', finishedAt: null } },
  { name: 'building', total: 512, finished: 0, run: { state: 'building', startedAt: null, finishedAt: null, snapshot: null }, until: '.chart-empty' },
  { name: 'nothing-yet', theme: 'light', total: 512, finished: 0, run: { state: 'running', finishedAt: null }, until: '.chart-empty' },
  { name: 'all-failed', total: 64, allFail: true, act: groupByCause },
  { name: 'interrupted-untrusted', theme: 'light', total: 512, finished: 300, trusted: false, run: { state: 'interrupted', error: 'the process that ran it is gone' } },
  {
    name: 'reward-tab',
    theme: 'light',
    total: 512,
    width: 1400,
    details: failed,
    act: async (page) => {
      await page.locator('vscode-textfield input').fill('reward:none status:completed');
      await until(page, `document.querySelector('.episode-count').textContent.includes(' of ')`);
      await openEpisode(page, 0);
      await page.locator('vscode-tab-header', { hasText: 'Reward' }).click();
    },
  },
  {
    name: 'timing-below',
    total: 512,
    width: 800,
    act: async (page) => {
      await openEpisode(page, 3);
      await page.locator('vscode-tab-header', { hasText: 'Timing' }).click();
    },
  },
  ...(['dark', 'hc-light'] as const).map((theme) => ({
    name: `artifacts-${theme}`,
    theme,
    total: 512,
    width: 1300,
    run: { policy: 'noop' },
    details: { 3: { record: { artifacts: 4 }, artifacts: [{ path: 'metrics.csv', size: 1834 }, { path: 'plots/reward.png', size: 24_120 }, { path: 'workspace/solution.patch', size: 812 }, { path: 'rollout.mp4', size: 9_400_000 }] } },
    files: { 'metrics.csv': `step,loss,reward,note\n${Array.from({ length: 30 }, (_, step) => `${step * 100},${(2 / (step + 1)).toFixed(4)},${(step / 40).toFixed(3)},${step % 7 === 0 ? 'checkpoint' : ''}`).join('\n')}\n` },
    show: { episode: 3 },
    act: async (page: Page) => {
      await page.locator('vscode-tab-header', { hasText: 'Artifacts' }).click();
      await page.locator('.artifact').nth(theme === 'dark' ? 0 : 1).click();
      await page.waitForSelector('.artifact-preview :is(img, .csv)');
    },
  })),
  {
    name: 'selection',
    total: 512,
    width: 1100,
    act: async (page) => {
      await page.locator('.grid').focus();
      for (const key of ['ArrowDown', 'ArrowDown', 'Control+Space', 'ArrowDown', 'ArrowDown', 'Control+Space']) await page.keyboard.press(key);
      await page.waitForSelector('.selection-actions');
    },
  },
  {
    name: 'filter-help-and-error',
    total: 512,
    act: async (page) => {
      await page.locator('vscode-textfield input').fill('rewrad<0.2');
      await page.waitForSelector('.filter-error');
      await page.locator('.filter-help-button').click();
    },
  },
];

void takePictures(OUT, SCENES, RunViewBrowser.launch, async (browser, { name: _, until, act, ...options }) => {
  const opened = await browser.open(options, until);
  await act?.(opened.page);
  return opened;
});
