/** Clients that misbehave: the runner lets go of them, and serves the others. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import type { RunnerConnection } from '../../../src/runner/connect.js';
import { identityOf } from '../../../src/runner/identity.js';
import { Home, SCRIPT, until } from './home.js';

const message = (body: object): string => {
  const text = JSON.stringify({ jsonrpc: '2.0', ...body });
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
};

describe('a client of the runner', function () {
  this.timeout(120_000);
  let home: Home;
  let good: RunnerConnection;
  before(async () => {
    home = await Home.make();
    good = await home.connect();
  });
  after(() => home.remove());

  /** The others are served as if nothing had been. */
  afterEach(async () => {
    const { pid, connections } = await good.client.request('runner/status', {});
    assert.equal(pid, good.welcome.pid);
    assert.equal(connections, 1);
  });

  async function dial(): Promise<Socket> {
    const socket = connect(home.place.socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  const hello = async (token?: unknown) => ({
    id: 1,
    method: 'hello',
    params: { ...(await identityOf(SCRIPT)), token: token ?? (await readFile(home.place.token, 'utf8')), client: 'cli', environment: {} },
  });

  const closed = (socket: Socket): Promise<unknown> => (socket.destroyed ? Promise.resolve() : new Promise((resolve) => socket.once('close', resolve)));

  for (const [what, send] of [
    ['without a token', () => Promise.resolve(message({ id: 1, method: 'hello', params: {} }))],
    ['with a wrong token', async () => message(await hello('0'.repeat(64)))],
    ['with a token that is no text', async () => message(await hello({ length: 64 }))],
    ['that asks before it says who it is', () => Promise.resolve(message({ id: 1, method: 'runner/status', params: {} }))],
    ['that begins with a notification', () => Promise.resolve(message({ method: 'hello', params: {} }))],
    ['that speaks another protocol', () => Promise.resolve('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['that sends no JSON', () => Promise.resolve('Content-Length: 3\r\n\r\n}}}')],
    ['that never ends its first message', () => Promise.resolve(`Content-Length: 999999999\r\n\r\n${'x'.repeat(400_000)}`)],
    ['that says nothing', () => Promise.resolve('')],
  ] as const)
    it(`${what} is let go of`, async () => {
      const socket = await dial();
      let answer = '';
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
      socket.write(await send());
      await closed(socket);
      assert.equal(answer.includes('"result"'), false, answer);
    });

  it('that stops in the middle of a message, or of a request, costs nothing', async () => {
    const socket = await dial();
    const text = message(await hello());
    socket.write(text.slice(0, 40));
    socket.write(text.slice(40));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.ok(answer.toString().includes('"result"'));
    socket.write(message({ id: 2, method: 'run/list', params: { root: home.root } }) + 'Content-Length: 1000\r\n\r\n{"half');
    socket.destroy();
    await until('it to be gone', async () => ((await good.client.request('runner/status', {})).connections === 1 ? true : undefined));
  });

  it('that never reads is dropped, and what waits for it is bounded', async () => {
    const socket = await dial();
    socket.write(message(await hello()));
    await once(socket, 'data');
    socket.pause();
    const memory = async () => Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${good.welcome.pid}/status`, 'latin1'))![1]) / 1024;
    const before = await memory();
    // Each answer holds the name of the method that it does not know, and is not read.
    let asked = 0;
    const ask = () => {
      for (; !socket.destroyed && asked < 4_000_000; asked++) if (!socket.write(message({ id: asked + 2, method: `no-such-method-${'x'.repeat(40)}`, params: {} }))) return;
    };
    socket.on('drain', ask);
    ask();
    await closed(socket);
    assert.ok(asked < 4_000_000, 'dropped before all was asked');
    assert.ok((await memory()) - before < 250, `${Math.round((await memory()) - before)} MB more`);
  });

  it('is served a hundred times in a row, and nothing of it stays', async () => {
    const { readdir } = await import('node:fs/promises');
    const descriptors = async () => (await readdir(`/proc/${good.welcome.pid}/fd`)).length;
    const before = await descriptors();
    for (let time = 0; time < 100; time++) {
      const connection = await home.connect();
      assert.equal(connection.welcome.pid, good.welcome.pid);
      connection.close();
      await connection.closed;
    }
    await until('descriptors to be given back', async () => ((await descriptors()) <= before ? true : undefined));
  });

  it('is told what it asked wrongly', async () => {
    await assert.rejects(good.client.request('no/such' as 'run/list', { root: home.root }), { code: 'UnknownMethod' });
    await assert.rejects(good.client.request('toString' as 'run/list', { root: home.root }), { code: 'UnknownMethod' });
    await assert.rejects(good.client.request('run/list', undefined as never), { name: 'RunnerError' });
    await assert.rejects(good.client.request('run/snapshot', { root: home.root, id: '../../etc' }), /is not an id/);
  });
});
