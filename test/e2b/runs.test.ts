/** Whole runs on E2B's simulator, by the command line. */
import { strict as assert } from 'node:assert';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EpisodeRecord } from '../../src/store/records.js';
import { HELLO, Workspace } from '../cli/support.js';
import { Home } from '../integration/runner/home.js';
import { FAULTS } from '../simulators/e2b/faults.js';
import { Simulated } from './simulated.js';

const PLENTY = { RL_SANDBOXES_E2B_CONCURRENT: '100', RL_SANDBOXES_E2B_CREATIONS_PER_SECOND: '100' };
const SEED = 7;

describe('runs on E2B', function () {
  this.timeout(120_000);
  let simulated: Simulated;
  let workspace: Workspace;
  before(async () => {
    [simulated, workspace] = await Promise.all([Simulated.start(), Workspace.make()]);
  });
  after(() => Promise.all([simulated?.close(), workspace?.remove()]));

  const run = async (provider: string, ...args: string[]): Promise<{ directory: string; episodes: EpisodeRecord[]; stderr: string }> => {
    const { stdout, stderr } = await workspace.start(['run', HELLO, '--provider', provider, '--json', ...args], { ...simulated.environment, ...PLENTY }).result;
    assert.notEqual(stdout, '', stderr);
    const { directory } = JSON.parse(stdout) as { directory: string };
    const lines = (await readFile(join(directory, 'episodes.jsonl'), 'utf8')).split('\n').filter(Boolean);
    return { directory, stderr, episodes: lines.map((line) => JSON.parse(line) as EpisodeRecord) };
  };

  it('hello gets the same rewards for the same seeds as on this machine, and leaves nothing', async () => {
    const [there, here] = [await run('e2b', '-n', '16', '-c', '8'), await run('bubblewrap', '-n', '16', '-c', '8')];
    const rewards = (episodes: EpisodeRecord[]): string[] => episodes.map(({ seed, status, reward }) => `${seed} ${status} ${reward}`).sort();
    assert.deepEqual(rewards(there.episodes), rewards(here.episodes));
    assert.equal(there.episodes.length, 16);
    const { sandboxes, requests } = await simulated.state();
    assert.deepEqual(sandboxes, []);
    assert.equal(requests['POST /v2/sandboxes'], 17, 'one for each episode and one for the build');
    for (const name of ['run.json', 'episodes.jsonl']) assert.ok(!(await readFile(join(there.directory, name), 'utf8')).includes(simulated.environment.E2B_API_KEY), name);
  });

  it('a window signs in over the socket: a wrong key is told from a good one, and what it does then has the key, which is in no file and in no environment', async () => {
    const key = simulated.environment.E2B_API_KEY;
    const wrong = key.replace(/0/g, '1');
    const before = process.env.E2B_API_KEY;
    // Whoever starts the runner has it in its environment.
    process.env.E2B_API_KEY = key;
    const home = await Home.make();
    try {
      const { root } = home;
      const file = await home.template('slow', 'episode:\n  run: sleep 1; echo 0.5\n  seeds: 2\n');
      const window = await home.window({ accounts: { E2B_API_KEY: undefined } });
      const { client } = window;
      const start = () => client.request('run/start', { root, file, options: { provider: 'e2b' } });
      await assert.rejects(start(), { code: 'ProviderUnavailable', message: /E2B_API_KEY is not set/ });
      const check = async (environment?: Record<string, string>) => (await client.request('account/check', { root, provider: 'e2b', environment })).code;
      assert.equal(await check({ ...simulated.environment, E2B_API_KEY: wrong }), 'wrong-key');
      assert.equal(await check({ ...simulated.environment }), undefined);
      assert.equal(await check(), 'signed-out', 'what was tried is forgotten');
      await client.request('account/use', { environment: { ...simulated.environment, ...PLENTY } });
      const { id } = await start();
      const others = [await home.window({ accounts: { E2B_API_KEY: undefined } }), await home.window({ environment: { ...process.env, ...simulated.environment } })];
      const codes = await Promise.all(others.map((other) => other.client.request('account/check', { root, provider: 'e2b' })));
      assert.deepEqual(codes.map(({ code }) => code), ['signed-out', undefined], 'each window has its own account');
      await window.sees(id, ({ run }) => run.state === 'running');
      for (const pid of await home.runners()) for (const place of ['environ', 'cmdline']) assert.ok(!(await readFile(`/proc/${pid}/${place}`, 'latin1')).includes(key));
      await window.sees(id, ({ run }) => run.state === 'done');
      const files = (await readdir(home.folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
      for (const name of ['journal.json', 'runner.log', 'run.json', 'trace.jsonl']) assert.ok(files.some((entry) => entry.name === name), name);
      for (const { parentPath, name } of files) {
        const text = await readFile(join(parentPath, name), 'latin1');
        for (const value of [key, wrong]) assert.ok(!text.includes(value), name);
      }
    } finally {
      await home.remove();
      if (before === undefined) delete process.env.E2B_API_KEY;
      else process.env.E2B_API_KEY = before;
    }
    assert.deepEqual((await simulated.state()).sandboxes, []);
  });

  it('with every fault at 5 % each episode is scored as it would be, or an error that says why, and no sandbox is left', async () => {
    const sound = new Map((await run('bubblewrap', '-n', '20')).episodes.map(({ seed, reward }) => [seed, reward]));
    await simulated.faults(Object.fromEntries(Object.keys(FAULTS).map((fault) => [fault, 0.05])), SEED);
    const { episodes, stderr } = await run('e2b', '-n', '20', '-c', '8');
    const { sandboxes, struck } = await simulated.state();
    await simulated.faults({});
    assert.deepEqual(sandboxes, [], stderr);
    assert.equal(episodes.length, 20, stderr);
    for (const { seed, status, reward, cause } of episodes) {
      if (status === 'completed') assert.equal(reward, sound.get(seed), `seed ${seed}`);
      else assert.deepEqual({ status, reward, cause: /^(SandboxLost|SandboxError|LimitExceeded|OperationTimeout): ./.test(cause ?? '') }, { status: 'error', reward: null, cause: true }, `seed ${seed}: ${status}, ${cause}`);
    }
    assert.ok(episodes.some(({ attempts }) => attempts > 1), 'nothing was tried again');
    assert.ok(Object.keys(struck).length > 4, JSON.stringify(struck));
  });
});
