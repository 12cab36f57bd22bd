/** A runner that is killed: the next one ends what it left, and knows which of its runs can be resumed. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Home, until } from './home.js';

const SLOWISH = 'episode:\n  run: sleep 0.3; echo 0.$RL_SEED\n  seeds: 16\n';
const KEPT = 'episode:\n  run: echo 1\n  seeds: 2\nkeep_warm: -1\n';

describe('after kill -9 of the runner', function () {
  this.timeout(120_000);
  let home: Home;
  beforeEach(async () => (home = await Home.make()));
  afterEach(() => home.remove());

  it('the next one offers the runs to whoever looks, once; the command line says how to go on; and resuming runs what is missing', async () => {
    const file = await home.template('slowish', SLOWISH);
    const first = await home.window();
    const { id } = await first.client.request('run/start', { root: home.root, file, options: { concurrency: 2 } });
    await first.sees(id, ({ finished }) => finished >= 3);
    process.kill(first.connection.welcome.pid, 'SIGKILL');
    assert.equal(await first.connection.closed, undefined);

    const connection = await home.connect();
    const looked = { roots: [{ root: home.root, visible: true }] };
    assert.deepEqual(await connection.client.request('look', { roots: [{ root: '/elsewhere', visible: true }] }), { interrupted: [] });
    assert.deepEqual(await connection.client.request('look', looked), { interrupted: [{ root: home.root, id }] });
    assert.deepEqual(await connection.client.request('look', looked), { interrupted: [] });
    const said = await home.cli(['runner', 'status']);
    assert.match(said, /interrupted: slowish #1 {2}\d+\/16/);
    assert.ok(said.includes(`rl-sandboxes resume ${id} --root '${home.root}'`), said);

    const second = await home.window();
    await second.client.request('run/resume', { root: home.root, id });
    const { finished } = await second.sees(id, ({ run }) => run.state === 'done');
    assert.equal(finished, 16);
    const seeds = (await readFile(`${home.root}/.rlenv/runs/${id}/episodes.jsonl`, 'utf8')).split('\n').filter(Boolean).map((line) => (JSON.parse(line) as { seed: number }).seed);
    assert.deepEqual(seeds.sort((a, b) => a - b), Array.from({ length: 16 }, (_, index) => index));
    assert.equal((await home.cli(['runner', 'status'])).includes('interrupted'), false);
  });

  it('the next one ends every sandbox that it left, without being asked', async () => {
    const file = await home.template('kept', KEPT);
    const first = await home.window();
    const { id } = await first.client.request('run/start', { root: home.root, file, options: {} });
    await first.sees(id, ({ run }) => run.state === 'done');
    const { kept } = await first.client.request('runner/status', {});
    assert.equal(kept, 2);
    process.kill(first.connection.welcome.pid, 'SIGKILL');
    await first.connection.closed;

    const { client } = await home.connect();
    await until('the journal to be settled', async () => ((await readFile(home.place.journal).catch(() => undefined)) === undefined ? true : undefined));
    assert.deepEqual(await client.request('sandbox/list', { root: home.root }), []);
  });

  it('one that was killed while it put things right leaves them to the next', async () => {
    const file = await home.template('slowish', SLOWISH);
    const first = await home.window();
    const { id } = await first.client.request('run/start', { root: home.root, file, options: { concurrency: 2 } });
    await first.sees(id, ({ finished }) => finished >= 1);
    process.kill(first.connection.welcome.pid, 'SIGKILL');
    await first.connection.closed;
    for (let times = 0; times < 2; times++) {
      const again = await home.connect();
      process.kill(again.welcome.pid, 'SIGKILL');
      await again.closed;
    }
    const { client } = await home.connect();
    assert.deepEqual(await client.request('look', { roots: [{ root: home.root, visible: true }] }), { interrupted: [{ root: home.root, id }] });
  });

  it('what a client asks wrongly is refused, and ends no run', async () => {
    const file = await home.template('slowish', SLOWISH);
    const window = await home.window();
    const { id } = await window.client.request('run/start', { root: home.root, file, options: { concurrency: 4 } });
    const { client } = await home.connect();
    const refused = /must be an absolute path/;
    for (const root of [{ toString: null }, 7, null, 'relative', ['/x']] as unknown as string[]) {
      await assert.rejects(client.request('look', { roots: [{ root, visible: true }] }), refused);
      await assert.rejects(client.request('run/list', { root }), refused);
      await assert.rejects(client.request('run/start', { root, file, options: {} }), refused);
    }
    const { run } = await window.sees(id, ({ run: { state } }) => state === 'done');
    assert.equal(run.id, id);
  });
});
