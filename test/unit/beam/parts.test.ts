/** Parts of the Beam provider that need no service. */
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountOf, readSection } from '../../../src/sandbox/beam/account.js';
import { readReport } from '../../../src/sandbox/beam/spool.js';
import { stubOf } from '../../../src/sandbox/beam/stub.js';

describe('parts of the Beam provider', () => {
  it('take the account from variables, else from the file of the vendor, whose gateway may be of one\'s own', async () => {
    const HOME = await mkdtemp(join(tmpdir(), 'rl-beam-'));
    try {
      assert.throws(() => accountOf({ HOME }), { name: 'ProviderUnavailable', message: /BEAM_TOKEN is not set/ });
      await mkdir(join(HOME, '.beam'));
      await writeFile(join(HOME, '.beam', 'config.ini'), '[default]\ntoken = from-file\ngateway_host = gateway.beam.cloud\ngateway_port = 443\n\n[other]\ntoken = not-this\n');
      assert.deepEqual(accountOf({ HOME }), { token: 'from-file', gatewayUrl: 'https://app.beam.cloud' });
      assert.deepEqual(accountOf({ HOME, BEAM_TOKEN: 'own', BEAM_GATEWAY_URL: 'http://10.0.0.1:1994/' }), { token: 'own', gatewayUrl: 'http://10.0.0.1:1994' });
      await writeFile(join(HOME, '.beam', 'config.ini'), '[default]\ntoken=mine\ngateway_host=10.0.0.2\ngateway_port=1993\n');
      assert.deepEqual(accountOf({ HOME }), { token: 'mine', gatewayUrl: 'http://10.0.0.2:1994' });
    } finally {
      await rm(HOME, { recursive: true, force: true });
    }
    assert.deepEqual(readSection('; c\n[a]\nX = 1 \n[b]\nx=2\n', 'a'), { x: '1' });
  });

  it('take an answer of a poll only if it is whole', () => {
    const said = '2 1 w - m\n/wA=\neA==\nZ\n';
    assert.deepEqual(readReport(said), { out: 2, err: 1, done: false, more: true, fetched: [], stdout: Buffer.from([0xff, 0]), stderr: Buffer.from('x') });
    assert.deepEqual(readReport('0 0 d 7 -\n\n\nZ\n')?.code, 7);
    for (let length = 0; length < said.length - 1; length++) assert.equal(readReport(said.slice(0, length)), undefined, `${length} bytes`);
  });

  it('say what a sandbox is to be: names for people, thousandths, MiB, GPUs', () => {
    const spec = { labels: { owner: '1:2:3', run: 'hello 1', episode: 3, expires: 0 }, resources: { cpu: 0.5, memory: 3 << 20, gpu: { count: 2, model: 'A100-40' } }, env: {}, network: 'none' as const, lifetimeMs: 1500 };
    assert.deepEqual(stubOf('id', 'image', spec), { name: 'rl-hello-1-episode-3-id', imageId: 'image', cpu: 500, memory: 3, gpu: 'A100-40', gpuCount: 2, keepWarmSeconds: 2, blockNetwork: true });
    assert.throws(() => stubOf('id', 'image', { ...spec, resources: { gpu: { count: 'all' } } }), { name: 'Unsupported' });
  });
});
