/** Pictures of the comparison for a person to look at, in out/screens/compare: `npx tsx test/webview/compareView/screens.ts [part of a name]`. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type ThemeName, THEMES } from '../themes.js';
import { type CompareOptions, CompareViewBrowser } from './page.js';
import { takePictures } from '../pictures.js';

const OUT = join(import.meta.dirname, '../../../out/screens/compare');
const THEME_NAMES = Object.keys(THEMES) as ThemeName[];

interface Scene extends CompareOptions {
  readonly name: string;
  readonly act?: (page: Page) => Promise<void>;
}

const DIFFERENT = [{ what: 'digest', a: '8f31c2d90a4e', b: '1b77e05c2d13' }] as const;
const LEFT = { onlyA: 3, onlyB: 0, unscored: 4 };

const SCENES: readonly Scene[] = [
  ...THEME_NAMES.map((theme) => ({ name: theme, theme, width: 1200, height: 760, seeds: 512, samples: 4, left: LEFT, differences: DIFFERENT, template: 'code-repair', act: (page: Page) => page.locator('.pair-grid').focus() })),
  ...THEME_NAMES.map((theme) => ({ name: `narrow-${theme}`, theme, width: 300, height: 900, seeds: 512, left: LEFT, differences: DIFFERENT })),
  { name: 'wide-light', theme: 'light', width: 2000, height: 1000, seeds: 20_000 },
  { name: 'few', width: 1000, height: 600, seeds: 12 },
  { name: 'equal-light', theme: 'light', width: 1000, height: 600, seeds: 64, equal: true },
  { name: 'nothing', width: 1000, height: 600, seeds: 4, left: { onlyA: 4, onlyB: 0, unscored: 0 } },
];

void takePictures(OUT, SCENES, CompareViewBrowser.launch, async (browser, { name: _, act, ...options }) => {
  const opened = await browser.open(options);
  await act?.(opened.page);
  return opened;
});
