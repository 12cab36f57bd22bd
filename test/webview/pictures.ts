/** Pictures of a page for a person to look at. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenPage } from './page.js';

/** Fonts, images, the first drawing of a chart, parsers of Markdown and code come a little after the page. */
const SETTLE_MS = 400;

/** Takes a picture of each scene, or of those whose names hold the first argument of the program, and prints what the page complained of. */
export async function takePictures<B extends { close(): Promise<void> }, S extends { readonly name: string }>(folder: string, scenes: readonly S[], launch: () => Promise<B>, open: (browser: B, scene: S) => Promise<OpenPage>): Promise<void> {
  await mkdir(folder, { recursive: true });
  const browser = await launch();
  try {
    for (const scene of scenes.filter(({ name }) => name.includes(process.argv[2] ?? ''))) {
      const { page, complaints } = await open(browser, scene);
      await page.evaluate((ms) => document.fonts.ready.then(() => new Promise((resolve) => setTimeout(resolve, ms))), SETTLE_MS);
      await page.screenshot({ path: join(folder, `${scene.name}.png`) });
      await page.context().close();
      console.log(scene.name, ...complaints);
    }
  } finally {
    await browser.close();
  }
}
