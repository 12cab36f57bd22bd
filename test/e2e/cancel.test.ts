/** A run that is cancelled leaves nothing behind and keeps what is finished. */
import assert from 'node:assert/strict';
import { processesUsing } from '../../scripts/lib/leftovers.mjs';
import { sees } from '../support/sees.js';
import { tellStory } from './story.js';

describe('cancelling in VS Code', function () {
  this.timeout(240_000);
  const story = tellStory(8);
  const sandboxProcesses = async () => (await processesUsing(story.workspace.folder)).filter(({ command }) => /\b(bwrap|sleep 30)\b/.test(command));

  it('ends every sandbox of a running run', async () => {
    const { workbench } = story;
    await workbench.openView();
    await workbench.press(workbench.template('slow'), 'Run');
    await workbench.runView.waitForState(/running/i);
    await workbench.sandboxes.first().waitFor();
    await sees(async () => (await sandboxProcesses()).length > 0, true);

    await workbench.press(workbench.run('slow', 1), 'Cancel Run');
    await workbench.runView.waitForState(/cancelled/i);
    await workbench.sandboxes.first().waitFor({ state: 'detached' });
    await sees(sandboxProcesses, []);
    await sees(async () => (await story.workspace.runs())[0]?.run.state, 'cancelled');
    const [first] = await story.workspace.runs();
    assert.ok(first!.episodes.every(({ reward }) => reward === null), 'nothing that was cut short has a reward');
  });

  it('then runs another template as if nothing had been', async () => {
    const { workbench } = story;
    await workbench.press(workbench.template('hello'), 'Run');
    await workbench.run('hello', 2).waitFor();
    await workbench.runView.waitForState(/finished/i);
    const runs = await story.workspace.runs();
    assert.equal(runs[1]?.episodes.length, 8);
  });
});
