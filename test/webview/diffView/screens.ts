/** Pictures of the comparison of two traces for a person to look at, in out/screens/diff: `npx tsx test/webview/diffView/screens.ts [part of a name]`. */
import { join } from 'node:path';
import { type ThemeName, THEMES } from '../themes.js';
import { type DiffOptions, DiffViewBrowser } from './page.js';
import { takePictures } from '../pictures.js';

const OUT = join(import.meta.dirname, '../../../out/screens/diff');
const THEME_NAMES = Object.keys(THEMES) as ThemeName[];

interface Scene extends DiffOptions {
  readonly name: string;
  readonly keys?: readonly string[];
}

const SCENES: readonly Scene[] = [
  ...THEME_NAMES.map((theme) => ({ name: theme, theme, width: 1400, height: 860, keys: ['n'] })),
  ...THEME_NAMES.map((theme) => ({ name: `narrow-${theme}`, theme, width: 300, height: 900, keys: ['n'] })),
  { name: 'alone', width: 1400, height: 860, keys: ['n', 'ArrowDown'] },
  { name: 'long-light', theme: 'light', width: 1400, height: 860, steps: 12_000, compared: { a: 10_000, b: 10_000 }, keys: ['n'] },
];

void takePictures(OUT, SCENES, DiffViewBrowser.launch, async (browser, { name: _, keys = [], ...options }) => {
  const opened = await browser.open(options);
  await opened.page.waitForSelector('.step[aria-busy="false"] .block');
  for (const key of keys) {
    await opened.page.keyboard.press(key);
    await opened.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 150)));
  }
  return opened;
});
