/** Pictures of the window for a person to look at, some of them in the README: `out/screens/NAME.png`. */
import { mkdir } from 'node:fs/promises';
import type { Page } from 'playwright-core';

/** Of a picture that can be read where it is shown small, px. */
const PICTURE = { width: 1040, height: 700 };

/** Settings in which a picture shows what it is about. */
export const PICTURED = {
  'terminal.integrated.gpuAcceleration': 'off',
  'workbench.editor.enablePreview': false,
  // On a busy machine a menu that closes takes the keyboard from the box that it has opened.
  'workbench.quickOpen.closeOnFocusLost': false,
  'editor.minimap.enabled': false,
  'editor.scrollbar.vertical': 'hidden',
  'editor.scrollbar.horizontal': 'hidden',
  'diffEditor.useInlineViewWhenSpaceIsLimited': false,
};

/** `back` is the size that the window has before and after. */
export async function takePicture(page: Page, name: string, back: { readonly width: number; readonly height: number }): Promise<void> {
  await mkdir('out/screens', { recursive: true });
  await page.setViewportSize(PICTURE);
  // Between the icons of the activity bar, where nothing shows a tooltip.
  await page.mouse.move(24, PICTURE.height * 0.6);
  await page.waitForFunction(({ width }) => document.querySelector('.monaco-workbench')?.clientWidth === width, PICTURE);
  // What VS Code shows for a moment where something has another size; a picture with it is one all the same.
  for (const passing of await page.locator('.terminal-resize-overlay.visible, .scrollbar.visible').all()) await passing.waitFor({ state: 'hidden', timeout: 2000 }).catch(() => undefined);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await page.screenshot({ path: `out/screens/${name}.png`, animations: 'disabled' });
  await page.setViewportSize(back);
}
