/** Why parts of the provider do not use the vendor's SDK: what that does not do, beside what the provider does. When one of these fails, the SDK has learned it. */
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RateLimitError, Sandbox, type ConnectionOpts } from 'e2b';
import { Envd } from '../../src/sandbox/e2b/envd.js';
import { Refused } from '../../src/sandbox/remote/failures.js';
import { ask } from '../../src/sandbox/remote/wire.js';
import { until } from '../integration/conformance/bench.js';
import { Simulated } from './simulated.js';

const MEBIBYTE = 1 << 20;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('what the SDK of E2B does not do', function () {
  this.timeout(30_000);
  let simulated: Simulated;
  let options: ConnectionOpts;
  before(async () => {
    simulated = await Simulated.start();
    const { E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl } = simulated.environment;
    options = { apiKey, apiUrl, sandboxUrl };
  });
  after(() => simulated?.close());

  it('keep the bytes of output, and keep no more of it than is asked for', async () => {
    const sandbox = await Sandbox.create('base', options);
    try {
      assert.equal((await sandbox.commands.run("printf '\\377\\376'")).stdout, '\ufffd\ufffd');
      const { stdout } = await sandbox.commands.run('head -c 3000000 /dev/zero', { onStdout: () => undefined });
      assert.equal(stdout.length, 3_000_000, 'all of it is held, although somebody takes it as it comes');
    } finally {
      await sandbox.kill();
    }
  });

  it('upload a stream without holding what has gone out', async () => {
    const held: Record<string, number> = {};
    for (const who of ['sdk', 'own'] as const) {
      let arrived = 0;
      const server = createServer((request) => void request.on('data', (chunk: Buffer) => (arrived += chunk.length))).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const stop = new AbortController();
      const rest = once(stop.signal, 'abort');
      const pieces = (async function* () {
        for (let piece = 0; piece < 32; piece++) yield Buffer.alloc(MEBIBYTE);
        await rest;
      })();
      const stream = new ReadableStream<Uint8Array>({ pull: async (to) => { const { done, value } = await pieces.next(); if (done) to.close(); else to.enqueue(value); } }, { highWaterMark: 0 });
      collectGarbage();
      const before = process.memoryUsage().arrayBuffers;
      const sdk = new Sandbox({ ...options, sandboxUrl: url, sandboxId: 'x', envdVersion: '0.6.4' });
      const ends = Promise.allSettled([who === 'sdk' ? sdk.files.write('/x', stream, { signal: stop.signal }) : new Envd({ sandboxId: 'x', url }).upload('/x', Readable.from(pieces), stop.signal)]);
      await until(() => Promise.resolve(arrived >= 32 * MEBIBYTE), 'all of it to arrive', 15_000);
      collectGarbage();
      held[who] = (process.memoryUsage().arrayBuffers - before) / MEBIBYTE;
      stop.abort();
      await ends;
      server.close();
      server.closeAllConnections();
    }
    assert.ok(held.sdk! > 24 && held.own! < 8, `of 32 MiB that had arrived, the SDK held ${held.sdk} and the provider ${held.own}`);
  });

  it('tell how long a refusal for its rate holds', async () => {
    await simulated.faults({ rateLimit: 1 });
    const refusal: unknown = await Sandbox.create('base', { ...options, retries: 0 }).catch((error: unknown) => error);
    assert.ok(refusal instanceof RateLimitError);
    assert.deepEqual(Object.keys(refusal).filter((key) => /retry|after|header|response/i.test(key)), []);
    const own: unknown = await ask({ url: `${simulated.environment.E2B_API_URL}/v2/sandboxes`, json: { templateID: 'base' }, headers: { 'X-API-KEY': options.apiKey! }, signal: AbortSignal.timeout(10_000), silenceMs: 10_000 }).catch((error: unknown) => error);
    assert.ok(own instanceof Refused);
    assert.deepEqual([own.status, own.retryAfterMs], [429, 1000]);
  });
});
