/** A person signs in to a provider, sees what it costs, what it refuses and what was left there, and signs out: `out/screens/accounts-*.png`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import type { RunnerStatus } from '../../src/runner/api.js';
import { Simulated } from '../e2b/simulated.js';
import { RUNNER_FOLDER } from '../support/runner.js';
import { SECRETS_KEY } from '../support/vscode.js';
import { tellStory } from './story.js';

const FAR = 'provider: e2b\nmax_cost: 1\nepisode:\n  run: sleep 1; echo 0.5\n  seeds: 4\n';
/** What two sandboxes of the smallest size cost in twenty seconds. */
const CAP = 2 * 20 * (2 * 0.000014 + 0.5 * 0.0000045);
const CROWD = `provider: e2b\nmax_cost: ${CAP}\nepisode:\n  run: sleep 60; echo 1\n  seeds: 6\n`;
/** What one of them cannot do. */
const ASKS = { gpu: 'provider: e2b\nresources: { gpu: { count: 1 } }\nepisode: { run: "true" }\n', hosts: 'provider: beam\nnetwork: { allow: [example.com] }\nepisode: { run: "true" }\n' };

describe('an account and what it costs, in VS Code', function () {
  this.timeout(300_000);
  let simulated: Simulated;
  before(async () => {
    // Fewer than the plan is known to allow.
    simulated = await Simulated.start('--concurrent', '2');
  });
  after(() => simulated?.close());
  const story = tellStory(
    4,
    { extension: process.cwd(), settings: { 'rlSandboxes.cost.askAbove': 0 }, env: { E2B_API_KEY: '', RL_SANDBOXES_E2B_CREATIONS_PER_SECOND: '100' } },
    { far: `name: far\n${FAR}`, crowd: `name: crowd\n${CROWD}`, gpu: `name: gpu\n${ASKS.gpu}`, hosts: `name: hosts\n${ASKS.hosts}` },
  );

  const picture = async (name: string, clip?: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }) => {
    await mkdir('out/screens', { recursive: true });
    // Between the icons of the activity bar, where nothing shows a tooltip.
    await story.code.page.mouse.move(24, 500);
    await story.code.page.screenshot({ path: `out/screens/accounts-${name}.png`, animations: 'disabled', clip });
  };
  const account = (state: RegExp) => story.code.page.getByRole('treeitem', { name: /^Account at E2B, / }).filter({ hasText: state });
  /** Answers the step that asks for this; without a text, with what stands there. */
  const answer = async (prompt: RegExp, text?: string) => {
    const widget = story.code.page.locator('.quick-input-widget:visible').filter({ hasText: prompt });
    await widget.waitFor();
    if (text !== undefined) await widget.locator('input:visible').first().fill(text);
    await story.code.page.keyboard.press('Enter');
  };

  const signIn = async (key: string, address?: string) => {
    await story.workbench.command('RL Sandboxes: Sign In to Provider...');
    await answer(/Beam/, 'E2B');
    await answer(/A name for this account/, 'team');
    await story.code.page.locator('.quick-input-widget input[type=password]:visible').waitFor();
    await picture('key');
    await answer(/The API key of E2B/, key);
    await answer(/Domain or URL/, address);
  };

  it('signs in: a wrong key is refused and not kept, a good one is, also when the window is reloaded, and the view says what the plan allows', async () => {
    const { workbench, code } = story;
    const { E2B_API_KEY: key, E2B_API_URL: url } = simulated.environment;
    await workbench.openView();
    await signIn('e2b_wrong', url);
    await workbench.question.filter({ hasText: 'E2B refuses the key' }).waitFor();
    await workbench.answer('Try Again');
    await answer(/A name for this account/);
    await answer(/The API key of E2B/, key);
    await answer(/Domain or URL/);
    await code.page.getByRole('button', { name: 'Accounts Section' }).click();
    await account(/team.*0 of 20 live/).waitFor();
    // The view is shown again as it was.
    await workbench.reload();
    await account(/team.*0 of 20 live/).waitFor();
    assert.ok(!(await code.page.content()).includes(key), 'the key is nowhere in the window');
  });

  it('underlines what a provider cannot do, and lists it among the problems', async () => {
    const { workbench, code } = story;
    await workbench.openFile('hosts.rlenv.yaml');
    await workbench.openFile('gpu.rlenv.yaml');
    await code.page.locator('.squiggly-error').first().waitFor();
    await workbench.command('Problems: Focus on Problems View');
    const problem = (text: string) => code.page.locator('.markers-panel .monaco-list-row').filter({ hasText: text });
    await problem('the provider "e2b" has no GPUs').waitFor();
    await problem('the provider "beam" has no network policy `allow` for episodes').waitFor();
    await picture('problems');
    await workbench.command('View: Close All Editors');
    await workbench.command('View: Hide Panel');
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

  it('says what a run waits for when the provider has refused more, and what came of the episodes when it has cost what it may; Resume asks for a higher cap', async () => {
    const { workbench, code } = story;
    const { frame } = workbench.runView;
    await workbench.press(workbench.template('crowd'), 'Run');
    await workbench.answer('Start');
    await frame.locator('.notice').filter({ hasText: /E2B has refused more sandboxes than it has room for: \d wait to be created/ }).waitFor();
    await picture('limit');
    await frame.locator('.notice').filter({ hasText: /has come to the \$0\.00\d+ that it may cost\. .* ended: \d; not started: \d\..*Resume/ }).waitFor();
    await picture('cap');
    await workbench.runView.waitForState(/cancelled/i);
    assert.deepEqual((await simulated.state()).sandboxes, []);
    await workbench.press(workbench.run('crowd', 2), 'Resume Run');
    const box = code.page.locator('.quick-input-widget:visible').filter({ hasText: /How many dollars may it cost in all/ });
    await box.waitFor();
    await code.page.keyboard.press('Escape');
    await box.waitFor({ state: 'hidden' });
  });

  it('shows what a killed engine has left at the provider, and Terminate Orphaned Sandboxes ends it', async () => {
    const { workbench, code } = story;
    await workbench.choose(workbench.template('far'), 'Open Sandbox');
    await workbench.sandboxes.filter({ hasText: /e2b/i }).waitFor();
    await workbench.press(account(/team/), 'Check Account');
    await account(/1 of 20 live/).waitFor();
    await picture('live');
    const env = { ...process.env, [RUNNER_FOLDER]: code.runner };
    const { pid } = JSON.parse((await promisify(execFile)(process.execPath, [resolve('dist/cli.mjs'), 'runner', 'status', '--json'], { env })).stdout) as RunnerStatus;
    process.kill(pid, 'SIGKILL');
    await workbench.sandboxes.filter({ hasText: /orphan/ }).waitFor();
    assert.equal((await simulated.state()).sandboxes.length, 1);
    await picture('orphan', { x: 0, y: 0, width: 640, height: 440 });
    await workbench.command('RL Sandboxes: Terminate Orphaned Sandboxes');
    await workbench.sandboxes.waitFor({ state: 'detached' });
    await workbench.press(account(/team/), 'Check Account');
    await account(/0 of 20 live/).waitFor();
    assert.deepEqual((await simulated.state()).sandboxes, []);
  });

  it('says so where the browser window of VS Code does not keep keys, and signs out', async () => {
    const { workbench, code } = story;
    await code.page.unroute(SECRETS_KEY);
    // The view is shown again as it was.
    await workbench.reload();
    await account(/not signed in, the key was not kept/).waitFor();
    await account(/not kept/).click();
    await picture('lost');
    await code.page.keyboard.press('Escape');
    await signIn(simulated.environment.E2B_API_KEY, simulated.environment.E2B_API_URL);
    await workbench.choose(account(/team.*0 of 20/), 'Sign Out of Provider...');
    await workbench.answer('Sign Out');
    await account(/E2B\s*not signed in$/).waitFor();
  });
});
