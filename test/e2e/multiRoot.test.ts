/** Several folders in one window: each keeps its own runs. */
import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sees } from '../support/sees.js';
import { tellStory } from './story.js';
import { Workspace } from './workspace.js';

describe('a workspace of two folders', function () {
  this.timeout(240_000);
  let file: string;
  const story = tellStory(8, {
    extension: process.cwd(),
    prepare: async (workspace) => {
      const hello = await readFile(join(workspace.folder, 'hello.rlenv.yaml'), 'utf8');
      await workspace.write('first/hello.rlenv.yaml', hello);
      await workspace.write('second/other.rlenv.yaml', hello.replace('name: hello', 'name: other'));
      file = join(workspace.folder, 'both.code-workspace');
      await workspace.write('both.code-workspace', JSON.stringify({ folders: [{ path: 'first' }, { path: 'second' }] }));
      return file;
    },
  });
  const folder = (name: string) => Workspace.at(join(story.workspace.folder, name));

  it('shows the templates of both, and where each is from', async () => {
    const { workbench } = story;
    await workbench.openView();
    await workbench.template('hello').filter({ hasText: 'first' }).waitFor();
    await workbench.template('other').filter({ hasText: 'second' }).waitFor();
  });

  it('keeps a run in the folder of its template', async () => {
    const { workbench } = story;
    await workbench.press(workbench.template('other'), 'Run');
    await workbench.run('other', 1).waitFor();
    await workbench.runView.waitForState(/finished/i);
    const [run] = await folder('second').runs();
    assert.equal(run?.episodes.length, 8);
    await assert.rejects(access(join(story.workspace.folder, 'first', '.rlenv', 'runs')), 'nothing was written into the other folder');
  });

  it('shows the runs of both, newest first, each with a number of its own', async () => {
    const { workbench } = story;
    await workbench.press(workbench.template('hello'), 'Run');
    await workbench.page.getByRole('treeitem', { name: /^Run hello #1, 8\/8 / }).waitFor();
    await sees(() => workbench.page.getByRole('treeitem', { name: /^Run / }).evaluateAll((items) => items.map((item) => /^Run (\S+ #\d+)/.exec(item.ariaLabel ?? '')?.[1])), ['hello #1', 'other #1']);
  });

  it('forgets the runs of a folder that is taken out, and keeps them on disk', async () => {
    const { workbench, workspace } = story;
    await workspace.write('both.code-workspace', JSON.stringify({ folders: [{ path: 'first' }] }));
    await workbench.template('other').waitFor({ state: 'detached' });
    await workbench.run('other', 1).waitFor({ state: 'detached' });
    await workbench.run('hello', 1).waitFor();
    assert.equal((await folder('second').runs()).length, 1);
  });
});
