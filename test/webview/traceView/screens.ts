/** Pictures of the trace view for a person to look at, in out/screens/trace: `npx tsx test/webview/traceView/screens.ts [part of a name]`. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type ThemeName, THEMES } from '../themes.js';
import { type TraceOptions, TraceViewBrowser } from './page.js';
import { takePictures } from '../pictures.js';

const OUT = join(import.meta.dirname, '../../../out/screens/trace');
const THEME_NAMES = Object.keys(THEMES) as ThemeName[];

interface Scene extends TraceOptions {
  readonly name: string;
  readonly act?: (page: Page) => Promise<void>;
}

const press = (...keys: readonly string[]) => async (page: Page) => {
  for (const key of keys) await page.keyboard.press(key);
};
const search = async (page: Page) => {
  await page.keyboard.press('/');
  await page.keyboard.type('division');
  await page.waitForSelector('.hit');
};

const SCENES: readonly Scene[] = [
  ...THEME_NAMES.map((theme) => ({ name: theme, theme, width: 1400, height: 860 })),
  ...THEME_NAMES.map((theme) => ({ name: `narrow-${theme}`, theme, width: 300, height: 900 })),
  ...THEME_NAMES.map((theme) => ({ name: `pole-${theme}`, theme, story: 'pole' as const, steps: 120, start: 47, width: 1100, height: 800 })),
  { name: 'edit', width: 1400, height: 860, start: 7, act: async (page) => page.locator('.files summary').first().click() },
  { name: 'edit-light', theme: 'light', width: 1000, height: 860, start: 7 },
  { name: 'model', width: 1200, height: 860, start: 6 },
  { name: 'model-light', theme: 'light', width: 1200, height: 860, start: 6 },
  { name: 'user-light', theme: 'light', width: 1200, height: 860, start: 1 },
  { name: 'verifier', width: 1200, height: 860, start: 11 },
  { name: 'verifier-hc', theme: 'hc-black', width: 1200, height: 860, start: 11 },
  { name: 'raw', width: 1200, height: 860, act: press('r') },
  { name: 'search', width: 1200, height: 860, act: search },
  { name: 'search-hc', theme: 'hc-black', width: 1200, height: 860, act: search },
  { name: 'keys', width: 1200, height: 860, act: press('?') },
  { name: 'go-to-light', theme: 'light', width: 1200, height: 700, act: press('g') },
  { name: 'long', width: 2000, height: 1100, steps: 1_000_000, start: 500_000 },
  { name: 'long-light', theme: 'light', width: 2000, height: 1100, steps: 20_000, start: 3044 },
  { name: 'live', width: 1200, height: 800, begun: 6, act: async (page) => { await page.evaluate(() => window.traceStub.grow(2, true)); await page.waitForSelector('.pending'); } },
  {
    name: 'members-problems',
    theme: 'light',
    width: 1100,
    height: 800,
    head: { format: 'inspect', version: '0.3.142', members: { selected: 1, total: 3, names: ['task 1, epoch 1', 'task 2, epoch 1', 'task 3, epoch 1'] }, problems: ['line 341: the line is torn; 12 steps after it were not read', 'the image assets/4.png is missing'], end: { status: 'error', reason: 'SandboxLost: the sandbox went away' } },
    act: async (page) => page.locator('.problems summary').click(),
  },
];

void takePictures(OUT, SCENES, TraceViewBrowser.launch, async (browser, { name: _, act, ...options }) => {
  const opened = await browser.open(options);
  await opened.page.waitForSelector('.step[aria-busy="false"] .block');
  await act?.(opened.page);
  return opened;
});
