/** What the stories share: a workspace, a VS Code over it, and a picture of the window where a test failed. */
import { mkdir } from 'node:fs/promises';
import { launchVsCode, VsCodeMissing, type VsCode, type VsCodeOptions } from '../support/vscode.js';
import { skip } from '../support/skip.js';
import { Workbench } from './workbench.js';
import { Workspace } from './workspace.js';

/** What VS Code itself says of itself, and of a network that is not there. */
const NOISE = /%c|Failed to load resource|^\s+at |\[\w+Connection\]|open-vsx|iframe/;

export interface Story {
  readonly workspace: Workspace;
  readonly code: VsCode;
  readonly workbench: Workbench;
}

export interface StoryOptions extends Partial<VsCodeOptions> {
  /** Before the window is opened: what there is by then, and what to open in place of the folder. */
  readonly prepare?: (workspace: Workspace) => Promise<string | void>;
}

/** Opens a fresh window before the tests of the suite that calls it, and closes it after them. The answer is filled by then. */
export function tellStory(seeds: number, { prepare, ...options }: StoryOptions = { extension: process.cwd() }, templates: Readonly<Record<string, string>> = {}): Story {
  const story: { workspace?: Workspace; code?: VsCode; workbench?: Workbench } = {};
  let stoppedAt: string | undefined;

  before(async function () {
    this.timeout(180_000);
    story.workspace = await Workspace.create(seeds, templates);
    try {
      const opened = await prepare?.(story.workspace);
      story.code = await launchVsCode({ ...options, workspace: opened ?? story.workspace.folder });
    } catch (error) {
      if (error instanceof VsCodeMissing) skip(this, error.message);
      throw error;
    }
    story.workbench = new Workbench(story.code.page);
  });

  beforeEach(function () {
    if (stoppedAt !== undefined) skip(this, `the story stopped at "${stoppedAt}"`);
  });

  afterEach(async function () {
    if (this.currentTest?.state !== 'failed' || !story.code) return;
    stoppedAt = this.currentTest.title;
    const name = this.currentTest.fullTitle().replaceAll(/[^\w]+/g, '-');
    await mkdir('out/screens', { recursive: true });
    await story.code.page.screenshot({ path: `out/screens/failed-${name}.png` });
    const said = story.code.log.filter((line) => !NOISE.test(line)).slice(-20);
    console.error(`${this.currentTest.fullTitle()}: what VS Code said last:\n${said.join('\n')}`);
  });

  after(async function () {
    this.timeout(60_000);
    await story.code?.close();
    await story.workspace?.remove();
  });

  return story as Story;
}
