/** Why the provider does not use the vendor's SDK: what that does not do, beside what the provider does. When one of these fails, the SDK has learned it. */
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import beam, { Image, Sandbox, beamOpts, type SandboxInstance } from '@beamcloud/beam-js';
import { createProvider } from '../../src/sandbox/beam/index.js';
import { Gateway } from '../../src/sandbox/beam/gateway.js';
import { currentOwner } from '../../src/sandbox/owner.js';
import type { Provider, Sandbox as OwnSandbox } from '../../src/sandbox/provider.js';
import { bytes } from '../integration/conformance/bench.js';
import { point, silence } from './sdk.js';
import { PLENTY, Simulated } from './simulated.js';

describe('what the SDK of Beam does not do', function () {
  this.timeout(60_000);
  let simulated: Simulated;
  let stateDir: string;
  let provider: Provider;
  let theirs: SandboxInstance;
  let ours: OwnSandbox;
  let speak: () => void;

  before(async () => {
    simulated = await Simulated.start();
    point(simulated.environment);
    speak = silence();
    stateDir = await mkdtemp(join(tmpdir(), 'rl-beam-'));
    provider = createProvider({ stateDir, environment: { ...simulated.environment, ...PLENTY }, log: () => undefined });
    theirs = await new Sandbox({ name: 'sdk', image: Image.fromRegistry('debian') }).create();
    ours = await provider.create({}, { labels: { owner: await currentOwner(), expires: Date.now() + 600_000 }, resources: {}, env: {}, network: 'none', lifetimeMs: 600_000 });
  });
  after(async () => {
    await Promise.all([ours?.terminate(), theirs?.terminate()]);
    speak?.();
    await provider?.close();
    await simulated?.close();
    await rm(stateDir, { recursive: true, force: true });
  });

  it('give output that is no UTF-8', async () => {
    const process = await theirs.exec(['printf', '\\377\\376']);
    await process.wait();
    await assert.rejects(process.stdout.read(), /500/);
    assert.deepEqual([...(await bytes(ours, "printf '\\377\\376'"))], [0xff, 0xfe]);
  });

  it('read an empty file', async () => {
    await theirs.fs.writeText('/srv/empty', '');
    await assert.rejects(theirs.fs.readText('/srv/empty'), /Failed to read file/);
    await ours.files.write('/srv/empty', '');
    assert.equal((await buffer(await ours.files.read('/srv/empty'))).length, 0);
  });

  it('change how long a sandbox lives: the server has POST, and it sends PATCH', async () => {
    await assert.rejects(theirs.updateTtl(600), /501/);
  });

  it('list sandboxes, so that one whose creation was not answered is never found', async () => {
    assert.ok(!('list' in Sandbox));
    const gateway = new Gateway({ token: simulated.environment.BEAM_TOKEN, gatewayUrl: simulated.environment.BEAM_GATEWAY_URL });
    assert.ok((await gateway.containers(AbortSignal.timeout(10_000))).some(({ containerId }) => containerId === theirs.sandboxId));
  });

  it('tell the id of a sandbox that was created and did not get ready; nor take another account in the same process', async () => {
    const server = createServer((request, response) => {
      const ready = request.url!.endsWith('/connect');
      response.writeHead(ready ? 503 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(ready ? { message: 'no' } : { ok: true, containerId: 'sandbox-billed', stubId: 's' }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      beamOpts.gatewayUrl = other;
      const { config } = (await beam.request({ method: 'GET', url: 'api/v1/gateway/containers' })) as { config: { baseURL: string } };
      assert.equal(config.baseURL, simulated.environment.BEAM_GATEWAY_URL, 'what was set first is kept');
      point({ ...simulated.environment, BEAM_GATEWAY_URL: other });
      const error: unknown = await new Sandbox({ name: 'sdk', image: Image.fromRegistry('debian') }).create().catch((failure: unknown) => failure);
      assert.ok(error instanceof Error);
      assert.ok(!('containerId' in error) && !error.message.includes('sandbox-billed'));
    } finally {
      point(simulated.environment);
      server.close();
      server.closeAllConnections();
    }
  });
});
