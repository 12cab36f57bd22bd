/** What the stories share: a workspace, a VS Code over it, and a picture of the window where a test failed. */
import { mkdir } from 'node:fs/promises';
import { launchVsCode, VsCodeMissing, type VsCode, type VsCodeOptions } from '../support/vscode.js';
import { skip } from '../support/skip.js';
import { Workbench } from './workbench.js';
import { Workspace } from './workspace.js';

export interface Story {
  readonly workspace: Workspace;
  readonly code: VsCode;
  readonly workbench: Workbench;
}

/** Opens a fresh window before the tests of the suite that calls it, and closes it after them. The answer is filled by then. */
export function tellStory(seeds: number, options: Omit<VsCodeOptions, 'workspace'> = { extension: process.cwd() }): Story {
  const story: { workspace?: Workspace; code?: VsCode; workbench?: Workbench } = {};

  before(async function () {
    this.timeout(180_000);
    story.workspace = await Workspace.create(seeds);
    try {
      story.code = await launchVsCode({ ...options, workspace: story.workspace.folder });
    } catch (error) {
      if (error instanceof VsCodeMissing) skip(this, error.message);
      throw error;
    }
    story.workbench = new Workbench(story.code.page);
  });

  afterEach(async function () {
    if (this.currentTest?.state !== 'failed' || !story.code) return;
    const name = this.currentTest.fullTitle().replaceAll(/[^\w]+/g, '-');
    await mkdir('out/screens', { recursive: true });
    await story.code.page.screenshot({ path: `out/screens/failed-${name}.png` });
    console.error(`--- what VS Code said during: ${this.currentTest.fullTitle()}\n${story.code.log.slice(-60).join('\n')}`);
  });

  after(async function () {
    this.timeout(60_000);
    await story.code?.close();
    await story.workspace?.remove();
  });

  return story as Story;
}
