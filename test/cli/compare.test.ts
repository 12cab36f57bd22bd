import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { RunComparison, SeedPair } from '../../src/store/comparison.js';
import { Workspace, normalise } from './support.js';

/** What a seed earns is a matter of the timeout alone, so that two runs of one template differ. */
const TEMPLATE = (bonus: string, reward = 'stdout') => `episode:
  seeds: 8
  run: |
    test $RL_SEED = 7 && exit 0
    awk "BEGIN { print ($RL_SEED % 4) / 4 ${bonus} }"
reward: ${reward}
`;

describe('rl-sandboxes compare', function () {
  this.timeout(120_000);
  let workspace: Workspace;
  before(async () => void (workspace = await Workspace.make()));
  after(() => workspace.remove());

  it('says by how much the second run is better, seed by seed, and in what they were not asked the same', async () => {
    const file = await workspace.template('steady', TEMPLATE(''));
    assert.equal((await workspace.run('run', file, '-n', '8')).code, 0);
    await workspace.template('steady', TEMPLATE('+ ($RL_SEED == 3 ? -0.5 : $RL_SEED > 3 ? 0.25 : 0)', '{type: stdout, timeout: 30s}'));
    assert.equal((await workspace.run('run', file, '-n', '10', '--timeout', '30s')).code, 0);
    const { code, stdout, stderr } = await workspace.run('compare', '1', '2');
    assert.equal(code, 0, stderr);
    assert.equal(normalise(stdout, workspace.folder), await readFile('test/cli/golden/compare.txt', 'utf8'));
    const { seeds, ...comparison } = await workspace.json<RunComparison & { seeds: readonly SeedPair[] }>('compare', '#1', 'latest');
    assert.deepEqual([comparison.pairs, comparison.better, comparison.same, comparison.worse], [7, 3, 3, 1]);
    assert.deepEqual(comparison.left, { onlyA: 0, onlyB: 2, unscored: 1 });
    assert.deepEqual(seeds.map(({ delta }) => delta), [0, 0, 0, -0.5, 0.25, 0.25, 0.25, null, null, null]);
    // The other way round every difference has the other sign, and chance is as likely.
    const back = await workspace.json<RunComparison>('compare', 'latest', '1');
    assert.deepEqual([back.mean!.toFixed(12), back.test, back.better], [(-comparison.mean!).toFixed(12), comparison.test, 1]);
  });

  it('refuses a run that is not there, and a run with itself, in one sentence', async () => {
    const missing = await workspace.run('compare', '1', '99');
    assert.deepEqual([missing.code, missing.stderr], [1, `error: there is no run "99" in ${workspace.path('.rlenv')}; \`rl-sandboxes list\` shows what is there\n`]);
    assert.equal((await workspace.run('compare', '1', '#1')).code, 2);
  });
});
