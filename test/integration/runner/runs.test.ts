/** Runs in the runner: they outlive who asked for them, and everybody who looks sees the same. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join, resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { Home, until, type Window } from './home.js';

const SLOWISH = 'episode:\n  run: sleep 0.3; echo 0.$RL_SEED\n  seeds: 12\n';
/** Six that end soon, and two that go on for a while. */
const TWO_LAST = 'episode:\n  run: "[ $RL_SEED -ge 6 ] && sleep 6; echo 0.$RL_SEED"\n  seeds: 8\n';
/** Two that end, and four that do not. */
const FOUR_STAY = 'episode:\n  run: "[ $RL_SEED -ge 2 ] && sleep 600; echo 1"\n  seeds: 6\n';
const ENDLESS = 'episode:\n  run: sleep 600; echo 1\n  seeds: 4\n';

describe('runs in the runner', function () {
  this.timeout(120_000);
  let home: Home;
  beforeEach(async () => (home = await Home.make()));
  afterEach(() => home.remove());

  const start = async (window: Window, file: string, options = {}) => (await window.client.request('run/start', { root: home.root, file, options })).id;

  it('go on when the window that began them goes, and another sees them end', async () => {
    const file = await home.template('two-last', TWO_LAST);
    const first = await home.window();
    const id = await start(first, file, { concurrency: 2 });
    await first.sees(id, ({ finished }) => finished >= 2);
    first.connection.close();
    await first.connection.closed;
    const second = await home.window();
    assert.equal((await second.run(id))!.run.state, 'running');
    const { finished, mean } = await second.sees(id, ({ run }) => run.state === 'done');
    assert.equal(finished, 8);
    assert.ok(mean! > 0.1);
  });

  it('look the same to two windows, which hear of each change; one that looks elsewhere hears nothing', async () => {
    const file = await home.template('four-stay', FOUR_STAY);
    const [one, other, elsewhere] = [await home.window(), await home.window(), await home.window()];
    await elsewhere.client.request('look', { roots: [{ root: '/elsewhere', visible: true }] });
    const deaf = elsewhere.heard.length;
    const id = await start(one, file, { concurrency: 4 });
    await Promise.all([one, other].map((window) => window.sees(id, ({ finished, run }) => run.state === 'running' && finished === 2)));
    await other.client.request('run/cancel', { root: home.root, id });
    const [a, b] = await Promise.all([one, other].map((window) => window.sees(id, ({ run }) => run.state === 'cancelled')));
    assert.deepEqual(a, b);
    assert.equal(elsewhere.heard.length, deaf);
  });

  it('of the command line appear, progress and end as the disk says, while somebody looks', async () => {
    const file = await home.template('two-last', TWO_LAST);
    const window = await home.window();
    assert.deepEqual(await window.client.request('run/list', { root: home.root }), []);
    const child = spawn(process.execPath, [resolve('dist/cli.mjs'), 'run', file, '-c', '2'], { cwd: home.root, env: home.env, stdio: 'ignore' });
    const { run } = await window.sees(undefined, ({ finished }) => finished >= 1);
    await window.sees(run.id, ({ run: { state }, finished, mean }) => state === 'running' && finished >= 4 && mean !== null);
    await assert.rejects(window.client.request('run/cancel', { root: home.root, id: run.id }), new RegExp(`process ${child.pid}; cancel it there`));
    await once(child, 'exit');
    assert.equal((await window.sees(run.id, ({ run: { state } }) => state === 'done')).finished, 8);
  });

  it('of a command line that is killed are seen as interrupted', async () => {
    const file = await home.template('endless', ENDLESS);
    const window = await home.window();
    const child = spawn(process.execPath, [resolve('dist/cli.mjs'), 'run', file], { cwd: home.root, env: home.env, stdio: 'ignore' });
    const { run } = await window.sees(undefined, ({ run: { state } }) => state === 'running');
    child.kill('SIGKILL');
    await window.sees(run.id, ({ run: { state } }) => state === 'interrupted');
  });

  it('of others are not followed while nobody looks: no watch is held', async () => {
    const window = await home.window();
    const { pid } = window.connection.welcome;
    const watches = async () => {
      const names = await readdir(`/proc/${pid}/fdinfo`);
      const texts = await Promise.all(names.map((name) => readFile(`/proc/${pid}/fdinfo/${name}`, 'utf8').catch(() => '')));
      return texts.join('').split('\n').filter((line) => line.startsWith('inotify wd')).length;
    };
    await until('watches', async () => ((await watches()) > 0 ? true : undefined));
    await window.client.request('look', { roots: [{ root: home.root, visible: false }] });
    await until('no watch', async () => ((await watches()) === 0 ? true : undefined));
    await window.client.request('look', { roots: [{ root: home.root, visible: true }] });
    await until('watches again', async () => ((await watches()) > 0 ? true : undefined));
    window.connection.close();
    await window.connection.closed;
    await until('no watch without a window', async () => ((await watches()) === 0 ? true : undefined));
  });

  it('have the secrets of whoever asks, which are in no file, log or process environment', async () => {
    const file = await home.template('secret', 'secrets: [SECRET_OF_TEST]\nepisode:\n  run: echo "key is $SECRET_OF_TEST"; echo "${#SECRET_OF_TEST}"\n  seeds: 1\nreward: {type: stdout}\n');
    const value = 'value-of-the-second-window';
    const without = await home.window({ environment: { PATH: process.env.PATH } });
    await assert.rejects(start(without, file), { code: 'MissingSecret', message: /SECRET_OF_TEST/ });
    const having = await home.window({ environment: { PATH: process.env.PATH, SECRET_OF_TEST: value, OTHER_OF_TEST: 'never-asked-for' } });
    const id = await start(having, file);
    const { mean, run } = await having.sees(id, ({ run: { state } }) => state !== 'building' && state !== 'running');
    assert.equal(run.state, 'done', run.error);
    assert.equal(mean, value.length);
    await assert.rejects(having.client.request('run/snapshot', { root: home.root, id: `x${value}` }));
    const places = [join(home.root, '.rlenv'), home.place.folder];
    for (const place of places) {
      // Only files: a read of a pipe waits for somebody to write.
      for (const entry of (await readdir(place, { recursive: true, withFileTypes: true })).filter((each) => each.isFile())) {
        const text = await readFile(join(entry.parentPath, entry.name), 'latin1').catch(() => '');
        assert.equal(text.includes(value) || text.includes('never-asked-for'), false, entry.name);
      }
    }
    const { pid } = having.connection.welcome;
    assert.equal((await readFile(`/proc/${pid}/environ`, 'latin1')).includes(value), false);
  });

  describe('and Docker engines', () => {
    let folder: string;
    const engines: Server[] = [];
    before(async () => (folder = await mkdtemp(join(tmpdir(), 'engines-'))));
    after(async () => {
      for (const engine of engines) engine.close();
      await rm(folder, { recursive: true, force: true });
    });

    /** An engine that only counts what it is asked. */
    async function engine(name: string): Promise<{ host: string; asked: string[] }> {
      const asked: string[] = [];
      const server = createServer((request, response) => {
        asked.push(request.url ?? '');
        response.writeHead(500, { 'Content-Type': 'application/json' }).end(JSON.stringify({ message: `this is ${name}` }));
      });
      const path = join(folder, `${name}.sock`);
      server.listen(path);
      await once(server, 'listening');
      engines.push(server);
      return { host: `unix://${path}`, asked };
    }

    it('each window reaches the one that its own environment names', async () => {
      const [one, other] = [await engine('one'), await engine('other')];
      const summaries = await Promise.all(
        [one, other].map(async ({ host }) => {
          const window = await home.window({ environment: { PATH: process.env.PATH, DOCKER_HOST: host } });
          const { providers } = await window.client.request('doctor', { root: home.root });
          return providers.find(({ id }) => id === 'docker')!.summary;
        }),
      );
      assert.match(summaries[0]!, /one\.sock.*this is one/);
      assert.match(summaries[1]!, /other\.sock.*this is other/);
    });

    it('are asked nothing while no view is visible and nothing runs', async () => {
      const { host, asked } = await engine('quiet');
      const window = await home.window({ environment: { PATH: process.env.PATH, DOCKER_HOST: host } });
      await window.client.request('run/list', { root: home.root });
      await window.client.request('template/status', { root: home.root, file: await home.template('slowish', SLOWISH) });
      await window.client.request('look', { roots: [{ root: home.root, visible: false }] });
      await new Promise((resolve) => setTimeout(resolve, 7000));
      assert.deepEqual(asked, []);
    });
  });
});
