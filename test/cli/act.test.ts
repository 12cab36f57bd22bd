import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { CLI, Workspace } from './support.js';

const TEMPLATE = `
setup: [{ run: mkdir -p /work }]
episode: { run: 'true', timeout: 30s }
reward: { type: exit_code, run: 'test "$(cat /work/answer)" = 42' }
`;

describe('rl-sandboxes act', function () {
  this.timeout(120_000);
  let workspace: Workspace;
  before(async () => void (workspace = await Workspace.make()));
  after(() => workspace.remove());

  async function act(file: string, input: string, ...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [CLI, 'act', file, ...args], { cwd: workspace.folder, stdio: 'pipe' });
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close') as Promise<[number | null]>]);
    return { code, stdout, stderr };
  }

  it('runs each line, shows what came of it, and scores what was left', async () => {
    const file = await workspace.template('byhand', TEMPLATE);
    const { code, stdout, stderr } = await act(file, 'echo "seed $RL_SEED"; printf "\\033[31mred\\033[0m\\n" >&2\nfalse\necho 42 > /work/answer\n', '--seed', '7');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^reward 1\.0000\ntrace {2}\S+trace\.jsonl\n$/);
    assert.match(stderr, /seed 7\nred\n\[exit code 1\]/);
    assert.doesNotMatch(stderr, /\u001b/);
  });

  it('its commands can become the solution that the oracle runs, and be replayed', async () => {
    const { stdout } = await workspace.run('export', 'latest', '-f', 'solution');
    const solved = await workspace.template('solved', `${TEMPLATE}${stdout}policy: oracle\n`);
    const { stats } = await workspace.json<{ stats: { mean: number } }>('run', solved);
    assert.equal(stats.mean, 1, await readFile(solved, 'utf8'));
    const byHand = (await workspace.json<{ runs: { run: { id: string; policy: string } }[] }>('list')).runs.find(({ run }) => run.policy === 'manual')!;
    const { replay } = await workspace.json<{ replay: { same: boolean; text: string }[] }>('replay', byHand.run.id);
    assert.deepEqual(replay.map(({ same, text: said }) => [same, said]), [[true, 'the same in 3 steps']]);
    // With another setup something else comes of them.
    await workspace.template('byhand', TEMPLATE.replace('mkdir -p /work', 'mkdir -p /work; ln -s /dev/null /work/answer'));
    const { code, stdout: said } = await workspace.run('replay', byHand.run.id);
    assert.equal(code, 1);
    assert.match(said, /^episode 0: the reward is 0, and was 1$/m);
  });

  it('ends when the input does, and says what is wrong with a template', async () => {
    const { code, stdout } = await act(await workspace.template('byhand', TEMPLATE), '');
    assert.deepEqual([code, stdout.split('\n')[0]], [0, 'reward 0.0000']);
    await writeFile(workspace.path('bad.rlenv.yaml'), 'name: bad\n');
    const failed = await promisify(execFile)(process.execPath, [CLI, 'act', workspace.path('bad.rlenv.yaml')], { cwd: workspace.folder }).catch((error: unknown) => error as { code: number; stderr: string });
    assert.match(failed.stderr, /missing key "episode"/);
  });
});
