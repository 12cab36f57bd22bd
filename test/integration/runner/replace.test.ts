/** An updated engine takes the place of an older one: at once if that is idle, when its work is done if not. Never are there two. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { createMessageConnection, SocketMessageReader, SocketMessageWriter } from 'vscode-jsonrpc/node.js';
import type { ConnectOptions } from '../../../src/runner/connect.js';
import { isNewer, type Identity } from '../../../src/runner/identity.js';
import { makePrivate } from '../../../src/runner/place.js';
import { Home, type Window } from './home.js';

const SLOWISH = 'episode:\n  run: sleep 0.3; echo 0.$RL_SEED\n  seeds: 8\n';

describe('an updated runner', function () {
  this.timeout(120_000);
  let home: Home;
  beforeEach(async () => (home = await Home.make()));
  afterEach(() => home.remove());

  /** As a window with an extension of another version has it; what it starts is the one engine that there is. */
  const version = async (change: Partial<Identity>): Promise<Partial<ConnectOptions>> => ({ identity: { ...(await home.options()).identity, ...change } });

  it('is told by its version, then by when it was built; of two different ones never both are newer', () => {
    const base: Identity = { protocol: 1, version: '1.2.0', build: 'a', builtAt: 100 };
    const order: Identity[] = [{ ...base, version: '0.9.9', builtAt: 999 }, { ...base, version: '1.2.0-rc.1' }, base, { ...base, build: 'b', builtAt: 200 }, { ...base, version: '1.10.0', builtAt: 1 }];
    order.forEach((one, index) => order.forEach((other, place) => assert.equal(isNewer(one, other), index > place, `${index} ${place}`)));
    assert.equal(isNewer({ ...base, builtAt: 500 }, base), false, 'the same program');
  });

  it('takes the place of an idle one', async () => {
    const old = await home.connect();
    // The engine that is started is not of this version, so that it would be replaced again: it is only seen that the old one went.
    const next = home.connect(await version({ builtAt: old.welcome.builtAt + 1, build: 'next' })).catch((error: Error) => error);
    assert.equal(await old.closed, 'retired');
    await next;
    assert.ok(!(await home.runners()).includes(old.welcome.pid));
  });

  it('waits for one that is at work, which takes nothing else, and is told what that is', async () => {
    const file = await home.template('slowish', SLOWISH);
    const old = await home.window();
    const { id } = await old.client.request('run/start', { root: home.root, file, options: { concurrency: 1 } });
    await old.sees(id, ({ run }) => run.state === 'running');
    const updated: Window = await home.window(await version({ version: '99.0.0' }));
    assert.deepEqual(updated.connection.older, { runs: 1, kept: 0 });
    assert.equal(updated.connection.welcome.pid, old.connection.welcome.pid);
    assert.deepEqual(await home.runners(), [old.connection.welcome.pid]);
    // It shows what goes on, and starts nothing, whoever asks.
    assert.equal((await updated.run(id))!.run.state, 'running');
    for (const window of [old, updated]) {
      await assert.rejects(window.client.request('run/start', { root: home.root, file, options: {} }), { code: 'Retiring', message: /an older engine is still at work \(1 run\)/ });
    }
    assert.equal(await updated.connection.closed, 'retired');
    assert.equal(await old.connection.closed, 'retired');
    const after = await home.window();
    const { run, finished } = (await after.run(id))!;
    assert.deepEqual([run.state, finished], ['done', 8]);
    assert.notEqual(after.connection.welcome.pid, old.connection.welcome.pid);
  });

  it('does not give way to an older one, which uses it', async () => {
    const { welcome } = await home.connect();
    const older = await home.connect(await version({ version: '0.0.1' }));
    assert.equal(older.welcome.pid, welcome.pid);
    assert.equal(older.older, undefined);
  });

  it('that speaks another protocol is not used by an older one, which says so', async () => {
    const { place, identity } = await home.options();
    await makePrivate(place);
    await writeFile(place.token, 'x', { mode: 0o600 });
    // Stands in for an engine of the future, of which only its answer to the first request is known.
    const future = createServer((socket) => {
      const connection = createMessageConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
      connection.onRequest('hello', () => ({ ...identity, protocol: 2, version: '99.0.0', pid: process.pid, startedAt: 0 }));
      connection.listen();
    });
    future.listen(place.socket);
    await once(future, 'listening');
    try {
      await assert.rejects(home.connect(), { code: 'Outdated', message: /version 99\.0\.0, newer than this one/ });
    } finally {
      future.close();
      await rm(place.socket, { force: true });
    }
  });
});
