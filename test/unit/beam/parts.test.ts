/** Parts of the Beam provider that need no service. */
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountOf, readSection } from '../../../src/sandbox/beam/account.js';
import type { Container } from '../../../src/sandbox/beam/gateway.js';
import { isFirst } from '../../../src/sandbox/beam/ledger.js';
import { nameOf, readName } from '../../../src/sandbox/beam/name.js';
import { readReport } from '../../../src/sandbox/beam/spool.js';
import { stubOf } from '../../../src/sandbox/beam/stub.js';
import { machineHash } from '../../../src/sandbox/remote/labels.js';

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

  it('say what a sandbox is to be: thousandths, MiB, GPUs', () => {
    const spec = { labels: { owner: '1:2:3', expires: 0 }, resources: { cpu: 0.5, memory: 3 << 20, gpu: { count: 2, model: 'A100-40' } }, env: {}, network: 'none' as const, lifetimeMs: 1500 };
    assert.deepEqual(stubOf('name', 'image', spec), { name: 'name', imageId: 'image', cpu: 500, memory: 3, gpu: 'A100-40', gpuCount: 2, keepWarmSeconds: 2, blockNetwork: true });
    assert.throws(() => stubOf('name', 'image', { ...spec, resources: { gpu: { count: 'all' } } }), { name: 'Unsupported' });
  });

  it('write whose a sandbox is into a name that fits, and read it only if it is whole', async () => {
    const [id, owner, expires] = ['0123456789abcdef', `4194304:18446744073709551615:${'0'.repeat(8)}-${'1'.repeat(27)}`, 9_999_999_999_999];
    for (const [labels, read] of [
      [{ owner, run: 'hello 1/..', episode: 3, expires }, { owner, run: 'hello-1-', episode: 3, expires }],
      [{ owner: '1:-:boot29', expires: 0.5 }, { owner: '1:-:boot29', expires: 1 }],
      [{ owner, run: 'r'.repeat(300), episode: 999_999_999, expires }, { owner, run: 'r'.repeat(80), episode: 999_999_999, expires }],
    ]) {
      const name = await nameOf(id, labels!);
      assert.ok(name.length <= 255 && /^[\w.-]+$/.test(name), name);
      assert.deepEqual(readName(name), { id, machine: await machineHash(), labels: read });
      for (let length = 0; length < name.length; length++) for (const cut of [name.slice(0, length), name.slice(-length)]) if (cut !== name) assert.equal(readName(cut), undefined, cut);
    }
    for (const hostile of [undefined, 1, {}, '', 'rl-sandboxes', `rl-sandboxes.a.${'9'.repeat(10)}.${'0'.repeat(16)}.1.1_1_a.${id}`, `rl-sandboxes...${'0'.repeat(16)}.1.x.${id}`, `rl-sandboxes...${'0'.repeat(16)}.1.1_1_${'a'.repeat(500)}.${id}`])
      assert.equal(readName(hostile), undefined);
  });

  it('take for a sandbox of its name only what its stub was made for', () => {
    const madeAt = Date.parse('2026-01-01T00:00:10.900Z');
    const of = (containerId: string, scheduledAt: string | null, stubId = 'stub'): Container => ({ containerId, stubId, workspaceId: 'w', status: 'RUNNING', scheduledAt });
    const [own, copy, late] = [of('a', '2026-01-01T00:00:10Z'), of('b', '2026-01-01T00:00:12Z'), of('c', '2026-01-01T00:00:14Z')];
    assert.equal(isFirst(own, madeAt, [late, copy, own, of('x', '2025-01-01T00:00:00Z', 'another')]), true);
    assert.equal(isFirst(copy, madeAt, [own, copy]), false, 'there was one before');
    assert.equal(isFirst(late, madeAt, [late]), false, 'it came too late');
    assert.equal(isFirst(own, madeAt, [own, of('b', own.scheduledAt!)]), false, 'either may be the copy');
    for (const [each, at] of [[of('a', null), madeAt], [of('a', 'x'), madeAt], [own, NaN]] as const) assert.equal(isFirst(each, at, [each]), false, 'nothing is known');
    assert.equal(isFirst(own, madeAt, [own, of('b', null)]), false, 'of the other one nothing is known');
  });
});
