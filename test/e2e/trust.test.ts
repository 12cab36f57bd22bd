/** A folder whose authors are not trusted: everything can be looked at, and nothing runs. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { tellStory } from './story.js';

describe('in Restricted Mode', function () {
  this.timeout(240_000);
  const story = tellStory(8, {
    extension: process.cwd(),
    asksForTrust: true,
    prepare: async (workspace) => {
      const [code] = (await once(workspace.runInTerminal('hello'), 'exit')) as [number];
      assert.equal(code, 0);
    },
  });
  const runs = () => story.workspace.runs();

  it('shows the templates and the runs', async () => {
    const { workbench } = story;
    await workbench.page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
    await workbench.openView();
    await workbench.page.getByRole('treeitem', { name: /^Template hello, built/ }).waitFor();
    await workbench.page.getByRole('treeitem', { name: /^Run hello #1, 8\/8 / }).waitFor();
  });

  it('opens a run, its episodes and what they wrote', async () => {
    const { workbench } = story;
    await workbench.run('hello', 1).click();
    await workbench.runView.waitForState(/finished/i);
    assert.match((await workbench.runView.mean.innerText()).trim(), /^0\.\d+ ± 0\.\d+$/);
    await workbench.runView.rows.first().click();
    await workbench.runView.pane.locator('[data-stream=stdout] pre').waitFor();
  });

  it('runs nothing: not from the view, nor the run view, nor the palette', async () => {
    const { workbench } = story;
    const template = workbench.template('hello');
    await template.hover();
    assert.equal(await template.getByRole('button', { name: /^Run/ }).and(workbench.page.locator(':not(.disabled)')).count(), 0, 'no Run in the tree that can be pressed');

    const rerun = workbench.runView.frame.getByRole('button', { name: 'Rerun', exact: true });
    assert.equal(await rerun.getAttribute('aria-disabled'), 'true');
    await rerun.click({ force: true });

    await workbench.page.keyboard.press('F1');
    await workbench.page.getByPlaceholder(/type the name of a command/i).fill('>RL Sandboxes: ');
    await workbench.page.getByRole('option', { name: /^RL Sandboxes: Check Setup/ }).waitFor();
    assert.equal(await workbench.page.getByRole('option', { name: /^RL Sandboxes: (Run|Build|Delete|Terminate|Resume|Rerun)/ }).count(), 0, 'no command that acts is offered');
    await workbench.page.keyboard.press('Escape');
    await workbench.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    assert.equal((await runs()).length, 1);
  });

  it('runs as soon as the folder is trusted', async () => {
    const { workbench } = story;
    await workbench.page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).click();
    await workbench.page.getByRole('button', { name: 'Trust', exact: true }).click();
    await workbench.page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor({ state: 'detached' });
    const page = workbench.page.locator('.monaco-modal-editor-block');
    await page.locator('.codicon-close').first().click();
    await page.waitFor({ state: 'detached' });
    await workbench.press(workbench.template('hello'), 'Run');
    await workbench.run('hello', 2).waitFor();
    await workbench.page.getByRole('treeitem', { name: /^Run hello #2, 8\/8 / }).waitFor();
    assert.equal((await runs()).length, 2);
  });
});
