/** From a number that surprises to the step that explains it: in the editor of a trace file, and from an episode of a run. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TraceEvent } from '../../src/trace/events.js';
import { tellStory } from './story.js';

const AT = Date.UTC(2026, 10, 29, 16, 2);

/** A trace of five commands, the third of which fails. */
function events(): TraceEvent[] {
  const commands = ['ls', 'cat data.csv', 'pytest -q', 'echo done', 'true'];
  return [
    { type: 'start', version: 1, at: AT, episode: 0, seed: 17, sample: 0, attempt: 1, template: 'written-by-hand', provider: 'bubblewrap', policy: { name: 'command' } },
    ...commands.map(
      (command, index): TraceEvent => ({
        type: 'step', at: AT + 100 * index, ms: 80, step: index + 1, reward: null, terminated: false, truncated: false,
        action: { kind: 'command', command, language: 'sh' },
        observation: { kind: 'command', stdout: `\x1b[32moutput of ${command}\x1b[0m\n`, ...(index !== 2 && { exitCode: 0 }) },
        ...(index === 2 && { error: 'timed out' }),
      }),
    ),
    { type: 'reward', at: AT + 600, ms: 20, reward: 0.25, components: [{ name: 'tests', weight: 1, value: 0.25 }] },
    { type: 'end', at: AT + 640, status: 'completed', steps: 5, reward: 0.25 },
  ];
}

const BY_HAND = `name: byhand
setup: [{ run: mkdir -p /srv }]
episode: { run: 'true' }
reward: { type: exit_code, run: 'test "$(cat /srv/answer)" = 42' }
`;

describe('a trace in VS Code', function () {
  this.timeout(240_000);
  const story = tellStory(4, undefined, { byhand: BY_HAND });
  const step = (title: string) => story.workbench.traceView.locator('.step-title', { hasText: title }).waitFor();

  it('opens in its own editor, on the step that failed', async () => {
    await writeFile(join(story.workspace.folder, 'by-hand.traj'), events().map((event) => `${JSON.stringify(event)}\n`).join(''));
    const { workbench } = story;
    await workbench.openView();
    await workbench.openFile('by-hand.traj');
    await step('pytest -q');
    const view = workbench.traceView;
    assert.match(await view.locator('rl-trace-header').innerText(), /written-by-hand[\s\S]*completed[\s\S]*reward 0\.25/);
    const output = view.locator('.terminal', { hasText: 'output of pytest -q' });
    await output.waitFor();
    assert.ok(!(await output.innerText()).includes('['));
  });

  it('is stepped through by keys, those that VS Code has for itself among them', async () => {
    const { page, traceView } = story.workbench;
    await traceView.getByRole('listbox', { name: 'Steps' }).focus();
    await page.keyboard.press('ArrowDown');
    await step('echo done');
    await page.keyboard.press('h');
    await step('pytest -q');
    await page.keyboard.press('F11');
    await step('echo done');
    await page.keyboard.press('Control+F10');
    await step('pytest -q');
    await page.keyboard.press('F10');
    await step('echo done');
    await page.keyboard.press('p');
    await step('pytest -q');
    await page.keyboard.press('Control+F');
    await page.keyboard.type('data.csv');
    await traceView.locator('.search-status', { hasText: '1 result' }).waitFor();
    await page.keyboard.press('Enter');
    await step('cat data.csv');
    await page.keyboard.press('Escape');
  });

  it('gives a text to an editor', async () => {
    const { page, traceView } = story.workbench;
    await traceView.getByRole('listbox', { name: 'Steps' }).focus();
    await page.keyboard.press('o');
    await page.getByRole('tab', { name: /^raw\.json/ }).waitFor();
    await page.getByRole('tab', { name: 'by-hand.traj' }).click();
  });

  it('is there again, where the reader was, after the window was reloaded', async () => {
    const { page, traceView } = story.workbench;
    await step('cat data.csv');
    await traceView.getByRole('listbox', { name: 'Steps' }).focus();
    await page.keyboard.press('h');
    await step('ls');
    await story.workbench.reload();
    // VS Code may come back to the tab that was in front a while before.
    await page.getByRole('tab', { name: 'by-hand.traj' }).click();
    await step('ls');
  });

  it('of an episode opens from the run view', async () => {
    const { workbench } = story;
    await workbench.openView();
    await workbench.press(workbench.template('hello'), 'Run');
    const { runView } = workbench;
    await runView.waitForState(/finished/i);
    await runView.rows.first().click();
    await runView.pane.getByRole('button', { name: 'Open Trace' }).click();
    await workbench.page.getByRole('tab', { name: /^hello #1, episode \d/ }).waitFor();
    await workbench.traceView.locator('rl-trace-header', { hasText: 'hello' }).waitFor();
    await workbench.traceView.locator('.step-row').first().waitFor();
  });

  it('is gone back to: a sandbox as it was after the step, with a terminal', async () => {
    const { page, traceView, sandboxes } = story.workbench;
    await traceView.getByRole('listbox', { name: 'Steps' }).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('s');
    await sandboxes.first().waitFor();
    await page.locator('.terminal-wrapper.active .xterm-helper-textarea').waitFor({ state: 'attached' });
  });

  it('is made by hand, and becomes the solution of its template', async () => {
    const { workbench } = story;
    const { page } = workbench;
    await workbench.choose(workbench.template('byhand'), 'Record Episode by Hand…');
    await page.getByText('Seed of the episode').waitFor();
    await page.keyboard.press('Enter');
    await page.getByPlaceholder('A shell command').fill('echo 42 > /srv/answer; echo done');
    await page.keyboard.press('Enter');
    await page.getByText('exit code 0: done').waitFor();
    await page.locator('.quick-input-widget').getByRole('button', { name: /^Submit/ }).click();
    await page.getByText('The episode is recorded, with the reward 1').first().waitFor();
    // It has none until its episode is in the list.
    await workbench.run('byhand', 2).locator('.monaco-tl-twistie.collapsible').click();
    await workbench.choose(page.getByRole('treeitem', { name: /^best 1/ }), 'Save as Solution of Its Template');
    await page.locator('.view-line', { hasText: 'solution:' }).waitFor();
  });
});
