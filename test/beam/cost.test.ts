/** A run at Beam whose price nobody knows: said before and after, and refused where there is a cap that it could not keep. */
import { strict as assert } from 'node:assert';
import { readdir, readFile } from 'node:fs/promises';
import type { RunRecord } from '../../src/store/records.js';
import { Workspace } from '../cli/support.js';
import { PLENTY, Simulated } from './simulated.js';

describe('cost of runs on Beam', function () {
  this.timeout(120_000);
  let simulated: Simulated;
  let workspace: Workspace;
  before(async () => {
    [simulated, workspace] = await Promise.all([Simulated.start(), Workspace.make()]);
  });
  after(() => Promise.all([simulated?.close(), workspace?.remove()]));

  it('is not known of a GPU that the table does not have', async () => {
    // The simulator has no GPUs, and takes the wish for one.
    const file = await workspace.template('far', 'provider: beam\nresources: { gpu: { count: 1, model: T4 } }\nepisode:\n  run: echo 1\n');
    const environment = { ...simulated.environment, ...PLENTY };
    const { code, stdout, stderr } = await workspace.start(['run', file], environment).result;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /What the run costs at Beam is not known: no price is known of a GPU T4 at the provider "beam"\. No cap/);
    assert.match(stderr, /cost not known/);
    assert.match(stdout, /^cost +not known: no price is known of a GPU T4/m);
    const runs = (): Promise<string[]> => readdir(workspace.path('.rlenv', 'runs')).then((names) => names.filter((name) => !name.startsWith('.')));
    const [id] = await runs();
    const { cost, costUnknown } = JSON.parse(await readFile(workspace.path('.rlenv', 'runs', id!, 'run.json'), 'utf8')) as RunRecord;
    assert.deepEqual({ cost, costUnknown }, { cost: undefined, costUnknown: 'no price is known of a GPU T4 at the provider "beam"' });

    const capped = await workspace.start(['run', file, '--max-cost', '1'], environment).result;
    assert.equal(capped.code, 1);
    assert.match(capped.stderr, /^error: `max_cost` cannot be kept: no price is known of a GPU T4 at the provider "beam"; add it to .*prices\.json, or remove `max_cost`$/m);
    assert.deepEqual(await runs(), [id], 'nothing was begun');
  });
});
