/** What a runner costs while nobody looks: no processor time, and not a word to a container engine. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Home } from './home.js';
import { skip } from '../../support/skip.js';

const WATCHED_MS = 3000;
/** Of 10 ms each, in those 3 s: a collection of garbage may fall into them. */
const MOST_TICKS = 3;

/** Ticks of processor time that a process has had. */
async function ticks(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'latin1')).replace(/^.*\) /, '').split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

describe('a runner that nobody looks at', function () {
  this.timeout(90_000);
  let home: Home;
  let engine: Server;
  let calls = 0;

  beforeEach(async () => {
    home = await Home.make();
    calls = 0;
    // An engine that knows nothing: what counts is whether it is asked at all.
    engine = createServer((socket) => {
      calls += 1;
      socket.on('error', () => undefined).on('data', () => socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}'));
    }).listen(join(home.folder, 'engine.sock'));
    await once(engine, 'listening');
  });
  afterEach(async () => {
    await home.remove();
    engine.close();
  });

  it('uses no processor time and calls no engine, with a sandbox that is kept', async function () {
    if (process.platform !== 'linux') skip(this, 'processor time is read from /proc');
    const host = `unix://${join(home.folder, 'engine.sock')}`;
    const window = await home.window({ environment: { ...process.env, DOCKER_HOST: host, CONTAINER_HOST: host } });
    const file = await home.template('kept', 'episode: {run: "true"}\n');
    await window.client.request('sandbox/open', { root: home.root, file, provider: 'bubblewrap' }).catch((error: Error) => {
      if (/not installed|needs Linux|cannot be made here/.test(error.message)) skip(this, error.message);
      throw error;
    });
    await window.client.request('sandbox/list', { root: home.root, measure: true });
    assert.ok(calls > 0, 'who looks at the list has each engine asked');
    await window.client.request('look', { roots: [{ root: home.root, visible: false }] });
    const [pid] = await home.runners();
    await delay(1000);
    const [called, used] = [calls, await ticks(pid!)];
    await delay(WATCHED_MS);
    assert.equal(calls - called, 0, 'calls of an engine');
    assert.ok((await ticks(pid!)) - used <= MOST_TICKS, `${(await ticks(pid!)) - used} ticks of processor time`);
  });
});
