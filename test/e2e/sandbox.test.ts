/** One sandbox from its opening to its end, as a person works in it: `out/screens/sandbox-*.png` show each step. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { tellStory } from './story.js';

describe('a live sandbox in VS Code', function () {
  this.timeout(240_000);
  const story = tellStory(4);
  let sandbox: Locator;

  const picture = async (name: string) => {
    await mkdir('out/screens', { recursive: true });
    await story.code.page.screenshot({ path: `out/screens/sandbox-${name}.png` });
  };
  const item = (name: RegExp) => story.code.page.getByRole('treeitem', { name });
  const menu = async (target: Locator, entry: string) => {
    await target.click({ button: 'right' });
    await story.code.page.getByRole('menuitem', { name: entry, exact: true }).click();
  };
  /** What a terminal shows, drawn as text. */
  const rows = () => story.code.page.locator('.xterm-rows').last();
  const type = async (text: string) => {
    await story.code.page.keyboard.type(text);
    await story.code.page.keyboard.press('Enter');
  };

  before(async () => {
    await story.workspace.settings({ 'terminal.integrated.gpuAcceleration': 'off', 'terminal.integrated.enableMultiLinePasteWarning': 'never' });
  });

  it('opens from a template', async () => {
    const { workbench } = story;
    await workbench.openView();
    await menu(workbench.template('hello'), 'Open Sandbox');
    sandbox = item(/^Sandbox hello-\w{4}, /);
    await sandbox.waitFor();
    await sandbox.filter({ hasText: /MB/ }).waitFor();
    await picture('open');
  });

  it('has a terminal that answers, is told of its size, and can be interrupted', async () => {
    const { workbench, code } = story;
    await workbench.press(sandbox, 'Open Terminal in Sandbox');
    await rows().waitFor();
    await code.page.locator('.xterm-helper-textarea').last().focus();
    await type('echo answer-$((40+2))');
    await rows().filter({ hasText: 'answer-42' }).waitFor();
    await type('stty size');
    const size = async () => /(\d+) (\d+)\s*[#$]?\s*$/m.exec((await rows().innerText()).trim().replaceAll('\u00a0', ' '))?.slice(1).map(Number);
    await rows().filter({ hasText: /\d+.\d+/ }).waitFor();
    await code.page.waitForTimeout(500);
    const before = await size();
    assert.ok(before && before[1]! > 40, `a size: ${String(before)}`);
    await code.page.setViewportSize({ width: 900, height: 700 });
    await code.page.waitForTimeout(700);
    await type('clear; stty size');
    await rows().filter({ hasNotText: 'answer-42' }).waitFor();
    await code.page.waitForTimeout(500);
    const after = await size();
    await picture('terminal');
    await code.page.setViewportSize({ width: 1280, height: 800 });
    assert.ok(after && after[1]! < before[1]!, `${String(before)}, then ${String(after)}`);
    await type('clear; sleep 100; echo not-reached');
    await code.page.waitForTimeout(300);
    await code.page.keyboard.press('Control+C');
    await type('echo again-$((1+1))');
    await rows().filter({ hasText: 'again-2' }).waitFor();
  });
});
