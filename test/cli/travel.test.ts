import assert from 'node:assert/strict';
import { Workspace } from './support.js';

const TEMPLATE = `
setup: [{ run: mkdir -p /srv }]
episode: { run: 'echo begun > /srv/log; cat /srv/log', timeout: 30s }
reward: { type: exit_code, run: 'grep -q begun /srv/log' }
`;

describe('rl-sandboxes back to a step', function () {
  this.timeout(120_000);
  let workspace: Workspace;
  let folder: string;
  let trace: string;
  before(async () => {
    workspace = await Workspace.make();
    const { directory } = await workspace.json<{ directory: string }>('run', await workspace.template('travel', TEMPLATE), '-n', '1');
    folder = `${directory}/episodes/0`;
    trace = `${folder}/trace.jsonl`;
  });
  after(() => workspace.remove());

  it('exec: a command in a sandbox as it was after the step', async () => {
    const { code, stdout, stderr } = await workspace.run('exec', folder, '--step', '0', '--', 'cat', '/srv/log');
    assert.deepEqual([code, stdout, stderr], [0, 'begun\n', 'The sandbox is as it was after step 1.\n']);
    assert.match((await workspace.run('exec', trace, '--step', '9', '--', 'true')).stderr, /^error: there is no step 9: the trace has 2, from 0$/m);
  });

  it('fork: episodes that go on from there, a run of their own that says so', async () => {
    const { code, stdout } = await workspace.run('fork', folder, '--step', '0', '-n', '2', '--policy', 'noop');
    assert.equal(code, 0);
    assert.match(stdout, /^forked from\s+run travel-\S+, episode 0, after step 1$/m);
    assert.match(stdout, /^episodes\s+2 completed$/m);
  });

  it('where the snapshot is gone, one sentence says so, and the way out', async () => {
    const { snapshots } = await workspace.json<{ snapshots: { id: string }[] }>('snapshot', 'list');
    for (const { id } of snapshots) await workspace.run('snapshot', 'delete', id);
    const { code, stderr } = await workspace.run('exec', trace, '--step', '0', '--', 'true');
    assert.equal(code, 1);
    assert.match(stderr, /^error: the snapshot \S+ of travel was deleted on .*can take its place.*\(--current\)$/m);
    const current = await workspace.run('exec', trace, '--step', '0', '--current', '--', 'cat', '/srv/log');
    assert.deepEqual([current.code, current.stdout], [0, 'begun\n'], current.stderr);
  });
});
