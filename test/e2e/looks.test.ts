/** Pictures of the window in three themes and two widths, for a person to look at: `out/screens/window-*.png`. */
import { mkdir } from 'node:fs/promises';
import { sees } from '../support/sees.js';
import { tellStory } from './story.js';

const THEMES = { light: 'Default Light Modern', dark: 'Default Dark Modern', 'high-contrast': 'Default High Contrast' };
const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 720, height: 900 } };
/** What VS Code tells a webview of its theme, by the class of its body. */
const BODY_CLASS = { light: 'vscode-light', dark: 'vscode-dark', 'high-contrast': 'vscode-high-contrast' };

describe('the run view beside the sidebar', function () {
  this.timeout(240_000);
  const story = tellStory(512);

  before(async () => {
    const { workbench } = story;
    await mkdir('out/screens', { recursive: true });
    await workbench.openView();
    await workbench.press(workbench.template('hello'), 'Run');
    await workbench.runView.waitForState(/finished/i);
    await workbench.runView.rows.nth(2).click();
    await workbench.runView.pane.locator('pre').first().waitFor();
  });

  for (const theme of Object.keys(THEMES) as (keyof typeof THEMES)[]) {
    for (const size of Object.keys(SIZES) as (keyof typeof SIZES)[]) {
      it(`fits ${theme}, ${size}`, async () => {
        const { code, workspace, workbench } = story;
        await workspace.settings({ 'workbench.colorTheme': THEMES[theme] });
        await code.page.setViewportSize(SIZES[size]);
        // Between the icons of the activity bar, where nothing shows a tooltip.
        await code.page.mouse.move(24, SIZES[size].height * 0.6);
        const { frame } = workbench.runView;
        await frame.locator(`body.${BODY_CLASS[theme]}`).waitFor();
        await workbench.runView.mean.waitFor();
        // Charts are drawn a frame after they learn of the theme and of their width.
        await frame.locator('body').evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
        await code.page.screenshot({ path: `out/screens/window-${theme}-${size}.png` });
        // By how much the page is wider than its place, px.
        await sees(() => frame.locator('html').evaluate((page) => Math.max(0, page.scrollWidth - page.clientWidth)), 0);
      });
    }
  }
});
