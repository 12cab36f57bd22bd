/** The package as a stranger gets it: made, installed into a fresh VS Code, and used. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { version } from '../../package.json';
import { tellStory } from './story.js';

const run = promisify(execFile);
const VSIX = resolve(`rl-sandboxes-${version}.vsix`);
const MAX_BYTES = 4_000_000;

describe('the packaged extension', function () {
  this.timeout(240_000);

  before(async () => {
    await run('npm', ['run', 'package'], { timeout: 150_000 });
  });

  it('holds what it needs and nothing else', async () => {
    const { stdout } = await run(process.execPath, ['node_modules/@vscode/vsce/vsce', 'ls', '--no-dependencies'], { timeout: 60_000 });
    const files = stdout.split('\n').map((line) => line.trim());
    for (const needed of ['package.json', 'dist/extension.js', 'dist/runner.mjs', 'dist/webview/runView.js', 'README.md', 'LICENSE']) assert.ok(files.includes(needed), `${needed} is packaged`);
    const stray = files.filter((file) => /^(src|test|webview|scripts|bench|node_modules|out|\.)/.test(file) || file.endsWith('.map'));
    assert.deepEqual(stray, []);
    const { size } = await stat(VSIX);
    assert.ok(size < MAX_BYTES, `${size} bytes`);
  });

  describe('in a fresh VS Code', () => {
    const story = tellStory(16, { vsix: VSIX });

    it('runs hello to its mean', async () => {
      const { workbench, workspace } = story;
      await workbench.openView();
      await workbench.press(workbench.template('hello'), 'Run');
      await workbench.runView.waitForState(/finished/i);
      assert.match((await workbench.runView.mean.innerText()).trim(), /^0\.\d+ ± 0\.\d+$/);
      const [first] = await workspace.runs();
      assert.equal(first?.episodes.length, 16);
    });
  });
});
