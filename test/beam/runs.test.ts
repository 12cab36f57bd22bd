/** Whole runs on Beam's simulator, by the command line. */
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EpisodeRecord } from '../../src/store/records.js';
import { HELLO, Workspace } from '../cli/support.js';
import { FAULTS } from '../simulators/beam/faults.js';
import { PLENTY, Simulated } from './simulated.js';

const SEED = 7;

describe('runs on Beam', function () {
  this.timeout(120_000);
  let simulated: Simulated;
  let workspace: Workspace;
  before(async () => {
    [simulated, workspace] = await Promise.all([Simulated.start(), Workspace.make()]);
  });
  after(() => Promise.all([simulated?.close(), workspace?.remove()]));

  const run = async (provider: string, ...args: string[]): Promise<{ episodes: EpisodeRecord[]; stderr: string }> => {
    const { stdout, stderr } = await workspace.start(['run', HELLO, '--provider', provider, '--json', ...args], { ...simulated.environment, ...PLENTY }).result;
    assert.notEqual(stdout, '', stderr);
    const { directory } = JSON.parse(stdout) as { directory: string };
    const lines = (await readFile(join(directory, 'episodes.jsonl'), 'utf8')).split('\n').filter(Boolean);
    return { stderr, episodes: lines.map((line) => JSON.parse(line) as EpisodeRecord) };
  };

  it('hello gets the same rewards for the same seeds as on this machine; then with every fault at 5 % each is scored as it would be, or an error that says why, and no sandbox is left', async () => {
    const sound = new Map((await run('bubblewrap', '-n', '16')).episodes.map(({ seed, reward }) => [seed, reward]));
    const before = (await simulated.state()).requests;
    const there = await run('beam', '-n', '16', '-c', '8');
    assert.deepEqual(new Map(there.episodes.map(({ seed, reward }) => [seed, reward])).size, 16);
    for (const { seed, reward } of there.episodes) assert.equal(reward, sound.get(seed), `seed ${seed}`);
    const { sandboxes: left, requests } = await simulated.state();
    assert.deepEqual(left, []);
    assert.deepEqual(['POST /pods', 'POST /pods/*/connect', 'POST /containers/*/stop'].map((kind) => requests[kind]! - (before[kind] ?? 0)), [17, 17, 17], 'one of each for an episode, and for the build');

    await simulated.faults(Object.fromEntries(Object.keys(FAULTS).map((fault) => [fault, 0.05])), SEED);
    const { episodes, stderr } = await run('beam', '-n', '16', '-c', '8');
    const { sandboxes, struck } = await simulated.state();
    await simulated.faults({});
    assert.deepEqual(sandboxes, [], stderr);
    assert.equal(episodes.length, 16, stderr);
    for (const { seed, status, reward, cause } of episodes) {
      if (status === 'completed') assert.equal(reward, sound.get(seed), `seed ${seed}`);
      else assert.deepEqual({ status, reward, cause: /^(SandboxLost|SandboxError|LimitExceeded|OperationTimeout): ./.test(cause ?? '') }, { status: 'error', reward: null, cause: true }, `seed ${seed}: ${status}, ${cause}`);
    }
    assert.ok(Object.keys(struck).length > 4, JSON.stringify(struck));
  });
});
