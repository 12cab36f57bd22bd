/** Runs that others began, what is asked before something is lost, and runs that were cut short. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { sees } from '../support/sees.js';
import { tellStory } from './story.js';

const SEEDS = 24;
const STEADY = `name: steady\nepisode:\n  run: sleep 2; echo 0.5\n  seeds: ${SEEDS}\n`;

describe('runs in the sidebar', function () {
  this.timeout(240_000);
  const story = tellStory(8, { extension: process.cwd(), prepare: (workspace) => workspace.write('steady.rlenv.yaml', STEADY) });
  const runs = () => story.workspace.runs();

  it('shows a run that was begun in a terminal, without being asked to look', async () => {
    const { workbench, workspace } = story;
    await workbench.openView();
    const ended = once(workspace.runInTerminal('hello'), 'exit') as Promise<[number]>;
    await workbench.run('hello', 1).waitFor();
    assert.deepEqual((await ended)[0], 0);
    await workbench.page.getByRole('treeitem', { name: /^Run hello #1, 8\/8 / }).waitFor();
  });

  it('says that a run was interrupted, and resumes it with what it had', async () => {
    const { workbench, workspace } = story;
    const terminal = workspace.runInTerminal('steady', '-c', '3');
    await workbench.page.getByRole('treeitem', { name: /^Run steady #2, running [1-9]/ }).waitFor();
    terminal.kill('SIGKILL');
    await once(terminal, 'exit');
    const interrupted = workbench.page.getByRole('treeitem', { name: /^Run steady #2, interrupted/ });
    await interrupted.waitFor();
    const kept = (await runs()).at(-1)!.episodes;
    assert.ok(kept.length > 0 && kept.length < SEEDS, `${kept.length} episodes are kept`);

    await workbench.press(interrupted, 'Resume Run');
    await workbench.runView.waitForState(/finished/i);
    await sees(async () => (await runs()).at(-1)!.run.state, 'done');
    const { episodes } = (await runs()).at(-1)!;
    assert.deepEqual(episodes.map(({ seed }) => seed).sort((a, b) => a - b), Array.from({ length: SEEDS }, (_, seed) => seed));
    assert.deepEqual(episodes.slice(0, kept.length), kept, 'what had finished was not run again');
  });

  it('asks before it deletes a run, and takes no for an answer', async () => {
    const { workbench } = story;
    const run = workbench.run('steady', 2);
    await workbench.choose(run, 'Delete Run');
    await workbench.question.filter({ hasText: 'Delete steady #2?' }).filter({ hasText: `Its ${SEEDS} episodes` }).waitFor();
    await workbench.answer('Cancel');
    assert.equal((await runs()).length, 2);
    await run.waitFor();
  });

  it('deletes it from the disk, the sidebar and the editor when it is told to', async () => {
    const { workbench } = story;
    const run = workbench.run('steady', 2);
    await workbench.choose(run, 'Delete Run');
    await workbench.answer('Delete');
    await run.waitFor({ state: 'detached' });
    await workbench.page.getByRole('tab', { name: /^steady #2/ }).waitFor({ state: 'detached' });
    await sees(async () => (await runs()).map(({ run }) => run.template), ['hello']);
  });
});
