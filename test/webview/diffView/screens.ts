/** Pictures of the comparison of two traces for a person to look at, in out/screens/diff: `npx tsx test/webview/diffView/screens.ts [part of a name]`. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ThemeName, THEMES } from '../themes.js';
import { type DiffOptions, DiffViewBrowser } from './page.js';

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

async function main(): Promise<void> {
  await mkdir(OUT, { recursive: true });
  const browser = await DiffViewBrowser.launch();
  try {
    for (const { name, keys = [], ...options } of SCENES.filter((scene) => scene.name.includes(process.argv[2] ?? ''))) {
      const { page, complaints } = await browser.open(options);
      await page.waitForSelector('.step[aria-busy="false"] .block');
      for (const key of keys) {
        await page.keyboard.press(key);
        await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 150)));
      }
      // Parsers of Markdown and code come a little later.
      await page.evaluate(() => document.fonts.ready.then(() => new Promise((resolve) => setTimeout(resolve, 400))));
      await page.screenshot({ path: join(OUT, `${name}.png`) });
      await page.context().close();
      console.log(name, ...complaints);
    }
  } finally {
    await browser.close();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
