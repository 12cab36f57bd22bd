/** What a run costs at a provider that bills: estimated, summed, capped. By the command line, on E2B's simulator. */
import { strict as assert } from 'node:assert';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunRecord } from '../../src/store/records.js';
import { Workspace, type Result } from '../cli/support.js';
import { Simulated } from './simulated.js';

const PLENTY = { RL_SANDBOXES_E2B_CONCURRENT: '100', RL_SANDBOXES_E2B_CREATIONS_PER_SECOND: '100' };
/** Dollars a second of a sandbox that asks for nothing: 2 processors and half a GiB. */
const PRICE = 2 * 0.000014 + 0.5 * 0.0000045;
const SEEDS = 6;

describe('cost of runs on E2B', function () {
  this.timeout(120_000);
  let simulated: Simulated;
  let workspace: Workspace;
  before(async () => {
    [simulated, workspace] = await Promise.all([Simulated.start(), Workspace.make()]);
  });
  after(() => Promise.all([simulated?.close(), workspace?.remove()]));

  const cli = (...args: string[]): Promise<Result> => workspace.start(args, { ...simulated.environment, ...PLENTY }).result;
  const last = async (): Promise<RunRecord & { directory: string }> => {
    const folders = (await readdir(workspace.path('.rlenv', 'runs'))).filter((id) => !id.startsWith('.')).map((id) => workspace.path('.rlenv', 'runs', id));
    // One that is just beginning has none.
    const runs = await Promise.all(folders.map((directory) => readFile(join(directory, 'run.json'), 'utf8').then((text) => [{ ...(JSON.parse(text) as RunRecord), directory }], () => [])));
    return runs.flat().sort((a, b) => a.number - b.number).at(-1)!;
  };
  const none = async (): Promise<void> => assert.deepEqual((await simulated.state()).sandboxes, []);

  it('is estimated by the timeout, then by the run before, and summed: each sandbox by its seconds', async () => {
    const file = await workspace.template('short', 'provider: e2b\nepisode:\n  run: sleep 1; echo 0.5\n  timeout: 90s\n  seeds: 3\n');
    const first = await cli('run', file);
    assert.equal(first.code, 0, first.stderr);
    // 90 s, and 60 s for the verifier.
    assert.match(first.stderr, /costs up to \$0\.01\d? at E2B: 3 episodes of 2 min 30 s at most, their timeout, \$0\.11 an hour for a sandbox \(prices of \d{4}-\d\d-\d\d\)\. No cap/);
    assert.match(first.stdout, /^cost +\$0\.0/m);
    const run = await last();
    const { spent, seconds, perSecond } = run.cost!;
    // Three episodes of a second, and the build.
    assert.ok(seconds > 3 && seconds < (4 * (run.finishedAt! - run.createdAt)) / 1000, String(seconds));
    assert.ok(Math.abs(spent - seconds * PRICE) < 1e-9, `${spent} for ${seconds} s`);
    assert.equal(perSecond, 0);
    assert.match((await cli('run', file, '-n', '1', '--max-cost', '5')).stderr, /costs about \$0\.000\d+ at E2B: 1 episode of [\d.]+ s as in run #1, .* It ends at \$5\.00\./);
    const local = await cli('run', file, '-n', '1', '--provider', 'bubblewrap');
    assert.doesNotMatch(local.stderr + local.stdout, /cost/);
    assert.equal((await last()).cost, undefined);
    assert.match((await cli('replay', run.id, '-e', '0')).stderr, /costs about \$0\.0\d+ at E2B: 1 episode of/);
    const trace = join(run.directory, 'episodes', '0', 'trace.jsonl');
    assert.match((await cli('fork', trace, '--step', '0')).stderr, /costs about \$0\.0\d+ at E2B: 1 episode of/);
    await none();
  });

  it('counts a second sandbox of a reward as one of its own size, and those that are kept warm until they end', async () => {
    const file = await workspace.template('judged', 'provider: e2b\nkeep_warm: 2s\nepisode:\n  run: "true"\n  timeout: 60s\n  seeds: 1\nreward:\n  type: sandbox\n  files: [/task.txt]\n  run: sleep 2; echo 0.5\n  timeout: 100s\n  resources: { cpu: 8, memory: 4Gi }\n');
    const { code, stdout, stderr } = await cli('run', file);
    assert.equal(code, 0, stdout + stderr);
    const judge = 8 * 0.000014 + 4 * 0.0000045;
    const mean = ((162 * PRICE + 100 * judge) / 262) * 3600;
    assert.ok(stderr.includes(`1 episode of 4 min 22 s at most, their timeout, $${mean.toFixed(2)} an hour for a sandbox`), stderr);
    assert.match(stderr, /kept warm is billed until it ends, after 2(\.0)? s at most/);
    assert.match(stderr, /1 sandbox stay warm, as the template asks, and are billed until they end/);
    const { cost, finishedAt } = await last();
    assert.equal(cost!.perSecond, 0);
    assert.ok(cost!.at - finishedAt! > 1000, 'the sum went on after the run');
    // The second one was there for two seconds at the least.
    assert.ok(cost!.spent > cost!.seconds * PRICE + 2 * (judge - PRICE), `${cost!.spent} for ${cost!.seconds} s`);
    await none();
  });

  it('is what was spent before a kill -9, and until what lived then was ended, and all that came after', async () => {
    const file = await workspace.template('struck', 'provider: e2b\nepisode:\n  run: sleep 4; echo 1\n  timeout: 90s\n  seeds: 4\n');
    const running = workspace.start(['run', file, '-c', '2'], { ...simulated.environment, ...PLENTY });
    const deadline = Date.now() + 60_000;
    let before = await last();
    for (; before.template !== 'struck' || !(before.cost && before.cost.perSecond > 1.5 * PRICE); before = await last()) {
      assert.ok(Date.now() < deadline, 'no two sandboxes lived');
      await delay(100);
    }
    process.kill(running.child.pid!, 'SIGKILL');
    await running.result;
    const noted = (await last()).cost!;
    assert.equal((await simulated.state()).sandboxes.length, 2, 'nobody ended them');
    const resumed = await cli('resume', before.id);
    assert.equal(resumed.code, 0, resumed.stderr);
    const { cost, state } = await last();
    assert.equal(state, 'done');
    const later = await cli('show', before.id);
    assert.match(later.stdout, /^cost +\$0\.0/m);
    assert.ok(cost!.spent > noted.spent + 4 * 4 * PRICE, `${cost!.spent} after ${noted.spent}`);
    await none();
  });

  it('ends the run at its cap: what lives is ended, nothing of it is a reward, and a resume counts on to a higher one', async () => {
    const cap = 4 * PRICE * 3;
    const file = await workspace.template('long', `provider: e2b\nmax_cost: ${cap}\nepisode:\n  run: sleep 60; echo 1\n  timeout: 90s\n  seeds: ${SEEDS}\n`);
    const { code, stdout, stderr } = await cli('run', file, '-c', '4');
    assert.equal(code, 1, stderr);
    assert.match(stdout, /the run stopped: max_cost: the run has come to the \$[\d.]+ that it may cost; 4 episodes that were under way were ended, 2 were not started, and none of these has a record/);
    assert.match(stdout, /^go on with: rl-sandboxes resume \S+ --max-cost DOLLARS$/m);
    await none();
    const run = await last();
    assert.deepEqual({ state: run.state, stopped: run.stopped }, { state: 'cancelled', stopped: { by: 'max_cost', underWay: 4, notStarted: 2 } });
    assert.ok(run.cost!.spent >= cap, `${run.cost!.spent} of ${cap}`);
    assert.equal(run.summary!.finished, 0, 'no episode is a result');
    const trace = (await readFile(join(run.directory, 'episodes', '0', 'trace.jsonl'), 'utf8')).trim().split('\n').at(-1)!;
    assert.deepEqual((({ type, status, cause, reward }) => ({ type, status, capped: /^max_cost: /.test(cause), reward }))(JSON.parse(trace) as { type: string; status: string; cause: string; reward: null }), { type: 'end', status: 'cancelled', capped: true, reward: null });

    assert.match((await cli('resume', run.id)).stderr, /has cost the \$[\d.]+ that it may: give it a higher --max-cost/);
    const higher = run.cost!.spent + 4 * PRICE;
    const again = await cli('resume', run.id, '--max-cost', String(higher));
    assert.equal(again.code, 1, again.stderr);
    await none();
    const resumed = await last();
    assert.deepEqual({ id: resumed.id, maxCost: resumed.maxCost }, { id: run.id, maxCost: higher });
    assert.ok(resumed.cost!.spent >= higher && resumed.cost!.seconds > run.cost!.seconds);
  });

  it('goes by the prices of the folder, where there are any', async () => {
    const file = await workspace.template('dear', 'provider: e2b\nmax_cost: 1\nepisode:\n  run: sleep 60; echo 1\n');
    const prices = (value: unknown): Promise<void> => writeFile(workspace.path('.rlenv', 'prices.json'), JSON.stringify({ asOf: '2026-01-02', providers: { e2b: value } }));
    await prices({ cpu: { dollars: 'free' } });
    assert.match((await cli('run', file)).stderr, /prices\.json is no table of prices: .*providers\.e2b/);
    const line = { dollars: 1, per: 'second', default: 1, least: 1, source: 'ours' };
    await prices({ cpu: line, memory: line, gpus: [] });
    const { stderr } = await cli('run', file);
    assert.match(stderr, /\$7200\.00 an hour for a sandbox \(prices of 2026-01-02\)\. It ends at \$1\.00\./);
    assert.equal((await last()).state, 'cancelled');
    await none();
  });
});
