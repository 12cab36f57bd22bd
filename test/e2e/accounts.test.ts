/** A person signs in to a provider, is asked about the cost of a run, sees the sum, and signs out: `out/screens/accounts-*.png`. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { Simulated } from '../e2b/simulated.js';
import { tellStory } from './story.js';

const FAR = 'provider: e2b\nmax_cost: 1\nepisode:\n  run: sleep 1; echo 0.5\n  seeds: 4\n';

describe('an account and what it costs, in VS Code', function () {
  this.timeout(240_000);
  let simulated: Simulated;
  before(async () => {
    simulated = await Simulated.start();
  });
  after(() => simulated?.close());
  const story = tellStory(
    4,
    { extension: process.cwd(), settings: { 'rlSandboxes.cost.askAbove': 0 }, env: { E2B_API_KEY: '', RL_SANDBOXES_E2B_CREATIONS_PER_SECOND: '100' } },
    { far: `name: far\n${FAR}` },
  );

  const picture = async (name: string) => {
    await mkdir('out/screens', { recursive: true });
    await story.code.page.mouse.move(640, 5);
    await story.code.page.screenshot({ path: `out/screens/accounts-${name}.png` });
  };
  const account = (state: RegExp) => story.code.page.getByRole('treeitem', { name: /^Account at E2B, / }).filter({ hasText: state });
  /** Answers the step that asks for this; without a text, with what stands there. */
  const answer = async (prompt: RegExp, text?: string) => {
    const widget = story.code.page.locator('.quick-input-widget:visible').filter({ hasText: prompt });
    await widget.waitFor();
    if (text !== undefined) await widget.locator('input:visible').first().fill(text);
    await story.code.page.keyboard.press('Enter');
  };

  it('signs in: a wrong key is refused and not kept, a good one is, and the view says what the plan allows', async () => {
    const { workbench, code } = story;
    const { E2B_API_KEY: key, E2B_API_URL: url } = simulated.environment;
    await workbench.openView();
    await workbench.command('RL Sandboxes: Sign In to Provider...');
    await answer(/Beam/, 'E2B');
    await answer(/A name for this account/, 'team');
    await code.page.locator('.quick-input-widget input[type=password]:visible').waitFor();
    await picture('key');
    await answer(/The API key of E2B/, 'e2b_wrong');
    await answer(/Domain or URL/, url);
    await workbench.question.filter({ hasText: 'E2B refuses the key' }).waitFor();
    await workbench.answer('Try Again');
    await answer(/A name for this account/);
    await answer(/The API key of E2B/, key);
    await answer(/Domain or URL/);
    await code.page.getByRole('button', { name: 'Accounts Section' }).click();
    await account(/team.*0 of 20 live/).waitFor();
    assert.ok(!(await code.page.content()).includes(key), 'the key is nowhere in the window');
  });

  it('asks before a run that costs more than was set, and shows the sum of what it has cost', async () => {
    const { workbench, code } = story;
    await workbench.press(workbench.template('far'), 'Run');
    await workbench.question.filter({ hasText: /Start a run at E2B that may cost \$0\.0/ }).filter({ hasText: 'The run ends when it has cost $1.00.' }).waitFor();
    await picture('ask');
    await workbench.answer('Start');
    await workbench.runView.waitForState(/^\s*(done|finished)/i);
    await workbench.runView.frame.locator('.header-facts').filter({ hasText: /\$0\.\d+ of \$1\.00/ }).waitFor();
    await code.page.getByRole('treeitem', { name: /^Account at E2B, / }).click();
    await picture('run');
    const [{ run, episodes }] = (await story.workspace.runs()).slice(-1) as [Awaited<ReturnType<typeof story.workspace.runs>>[number]];
    assert.deepEqual(episodes.map(({ reward }) => reward), [0.5, 0.5, 0.5, 0.5]);
    assert.ok(run.cost!.spent > 0 && run.cost!.spent < 1);
    assert.deepEqual((await simulated.state()).sandboxes, []);
  });

  it('ends what lives at the provider, and signs out', async () => {
    const { workbench } = story;
    await workbench.choose(workbench.template('far'), 'Open Sandbox');
    await workbench.sandboxes.filter({ hasText: /e2b/i }).waitFor();
    await workbench.press(account(/team/), 'Check Account');
    await account(/1 of 20 live/).waitFor();
    await picture('live');
    await workbench.command('RL Sandboxes: Terminate All Sandboxes');
    await workbench.answer('Terminate All');
    await workbench.press(account(/team/), 'Check Account');
    await account(/0 of 20 live/).waitFor();
    assert.deepEqual((await simulated.state()).sandboxes, []);
    await workbench.choose(account(/team/), 'Sign Out of Provider...');
    await workbench.answer('Sign Out');
    await account(/not signed in/).waitFor();
  });
});
