import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gpuInventory, parseNvidia } from '../../../src/sandbox/gpuInventory.js';
import { LimitExceeded } from '../../../src/sandbox/errors.js';
import type { GpuDevice, GpuRequest } from '../../../src/sandbox/provider.js';
import { gpuOptions } from '../../../src/sandbox/docker/gpu.js';
import { GpuPool, requireEnough } from '../../../src/rollout/gpuPool.js';

const device = (number: number, model = 'NVIDIA A100-SXM4-40GB'): GpuDevice => ({ via: 'nvidia', id: `GPU-${number}`, names: [String(number), `GPU-${number}`], model });
const TWO = [device(0), device(1)];
const wish = (request: Partial<GpuRequest> = {}, inventory: readonly GpuDevice[] = TWO) => ({ request: { count: 1, ...request }, inventory });
const ids = (devices: readonly (readonly GpuDevice[])[]): string[] => devices.flat().map(({ id }) => id);
/** All that can have happened by then has. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Asks for leases and keeps the order in which they are granted. */
class Asker {
  readonly pool = new GpuPool();
  readonly granted: string[] = [];
  readonly ask = async (name: string, request?: Partial<GpuRequest>, inventory?: readonly GpuDevice[], signal?: AbortSignal) => {
    const lease = await this.pool.acquire([wish(request, inventory)], signal);
    this.granted.push(`${name}:${ids(lease.devices).join('+')}`);
    return lease;
  };
}

describe('GPUs are handed out', () => {
  it('to 64 on two devices two at a time, none to two at once, in the order in which they came', async () => {
    const pool = new GpuPool();
    const busy = new Set<string>();
    const order: number[] = [];
    let most = 0;
    await Promise.all(
      Array.from({ length: 64 }, async (_, episode) => {
        const lease = await pool.acquire([wish()]);
        const [id] = ids(lease.devices);
        assert.ok(!busy.has(id!), `${id} is used twice`);
        busy.add(id!);
        order.push(episode);
        most = Math.max(most, busy.size);
        await settle();
        busy.delete(id!);
        lease.release();
        lease.release();
      }),
    );
    assert.equal(most, 2);
    assert.deepEqual(order, Array.from({ length: 64 }, (_, episode) => episode));
  });

  it('to as many as share one, spread over the devices; never beside one that wants it alone', async () => {
    const { ask, granted } = new Asker();
    const first = await ask('a', { share: 2 });
    await ask('b', { share: 2 });
    await ask('c', { share: 2 });
    void ask('alone', { ids: ['0'] });
    void ask('d', { share: 2, ids: ['GPU-1'] });
    await settle();
    assert.deepEqual(granted, ['a:GPU-0', 'b:GPU-1', 'c:GPU-0', 'd:GPU-1']);
    first.release();
    await settle();
    assert.equal(granted.length, 4, 'another one still uses it');
  });

  it('by model and by number; whoever needs other devices does not wait', async () => {
    const mixed = [device(0), device(1, 'NVIDIA H100 PCIe')];
    const { ask, granted } = new Asker();
    const held = await ask('a', { model: 'h100' }, mixed);
    void ask('b', { ids: ['1'] }, mixed);
    await ask('c', { model: 'A100' }, mixed);
    held.release();
    await settle();
    assert.deepEqual(granted, ['a:GPU-1', 'c:GPU-0', 'b:GPU-1']);
  });

  it('to one who wants many before those who came later and want few', async () => {
    const { ask, granted } = new Asker();
    const first = await ask('one', {});
    const both = ask('both', { count: 'all' });
    void ask('late', {});
    await settle();
    assert.deepEqual(granted, ['one:GPU-0'], 'a free device is kept for who came first');
    first.release();
    (await both).release();
    await settle();
    assert.deepEqual(granted, ['one:GPU-0', 'both:GPU-0+GPU-1', 'late:GPU-0']);
  });

  it('to nobody who has stopped waiting, who also holds up nobody', async () => {
    const { ask, granted } = new Asker();
    await ask('one', {});
    const stop = new AbortController();
    const gone = ask('gone', { count: 2 }, TWO, stop.signal);
    const next = ask('next', {});
    stop.abort(new Error('cancelled'));
    await assert.rejects(gone, /cancelled/);
    await next;
    assert.deepEqual(granted, ['one:GPU-0', 'next:GPU-1']);
    await assert.rejects(ask('late', {}, TWO, stop.signal), /cancelled/);
  });

  it('to all that one episode needs at once', async () => {
    const pool = new GpuPool();
    const first = await pool.acquire([wish(), wish({ ids: ['0'] })]);
    assert.deepEqual(ids(first.devices), ['GPU-1', 'GPU-0'], 'who takes anything leaves what another needs');
    assert.throws(() => requireEnough([wish({ count: 2 }), wish()]), /at the same time/);
    requireEnough([wish({ count: 2, share: 2 }), wish({ share: 2 })]);
  });

  it('never where there are too few, which is said before anything is waited for', async () => {
    const refused = (request: Partial<GpuRequest>, inventory: readonly GpuDevice[], message: RegExp) =>
      assert.rejects(new GpuPool().acquire([wish(request, inventory)]), (error: Error) => error instanceof LimitExceeded && message.test(error.message));
    await refused({ count: 3 }, TWO, /^3 GPUs were asked for, and this machine has 0 \(NVIDIA A100-SXM4-40GB\), 1 \(NVIDIA A100-SXM4-40GB\)$/);
    await refused({ model: 'H100' }, TWO, /^a GPU was asked for of model H100, and/);
    await refused({ ids: ['7', '0'] }, TWO, /^the GPUs 7, 0 were asked for/);
    await refused({ count: 'all' }, [], /^all GPUs were asked for, and this machine has none/);
  });
});

describe('the GPUs of a machine', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rl-gpus-'));
    await mkdir(join(folder, 'bin'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const program = (name: string, prints: string, code = 0) => writeFile(join(folder, 'bin', name), `#!/bin/sh\ncat <<'END'\n${prints}\nEND\nexit ${code}\n`, { mode: 0o755 });
  const look = () => gpuInventory({ env: { PATH: `${folder}/bin:/usr/bin:/bin` }, cdi: [join(folder, 'cdi'), join(folder, 'missing')], drm: join(folder, 'drm') });

  it('are those that nvidia-smi lists', async () => {
    await program('nvidia-smi', '0, GPU-5c1c0f0a-1111, NVIDIA A100-SXM4-40GB\n1, GPU-5c1c0f0a-2222, NVIDIA H100 PCIe');
    const found = await look();
    assert.deepEqual(found.map(({ names, model }) => [...names, model]), [['0', 'GPU-5c1c0f0a-1111', 'NVIDIA A100-SXM4-40GB'], ['1', 'GPU-5c1c0f0a-2222', 'NVIDIA H100 PCIe']]);
    assert.deepEqual(gpuOptions({ count: 1, devices: found.slice(1) }), { DeviceRequests: [{ Driver: '', DeviceIDs: ['GPU-5c1c0f0a-2222'], Capabilities: [['gpu']] }] });
    assert.deepEqual(parseNvidia('No devices were found\n\nNVIDIA-SMI has failed, because, x'), []);
  });

  it('are those of CDI specifications, each once, whatever names it has', async () => {
    await program('nvidia-smi', 'No devices were found', 6);
    await mkdir(join(folder, 'cdi'));
    const nodes = (...numbers: number[]) => `{deviceNodes: [${numbers.map((number) => `{path: /dev/nvidia${number}}`).join(', ')}]}`;
    const devices = [['"0"', 0], ['"1"', 1], ['GPU-5c1c', 1]].map(([name, number]) => `{name: ${name}, containerEdits: ${nodes(number as number)}}`);
    await writeFile(join(folder, 'cdi/nvidia.yaml'), `cdiVersion: 0.6.0\nkind: nvidia.com/gpu\ndevices: [${devices.join(', ')}, {name: all, containerEdits: ${nodes(0, 1)}}]\n`);
    await writeFile(join(folder, 'cdi/other.json'), '{"cdiVersion": "0.6.0", "kind": "example.com/net", "devices": [{"name": "eth0"}]}');
    await writeFile(join(folder, 'cdi/broken.yml'), 'kind: [');
    const found = await look();
    assert.deepEqual(found, [{ via: 'cdi', id: 'nvidia.com/gpu=0', names: ['0'] }, { via: 'cdi', id: 'nvidia.com/gpu=1', names: ['1', 'GPU-5c1c'] }]);
    assert.deepEqual(gpuOptions({ count: 1, devices: found.slice(0, 1) }), { DeviceRequests: [{ Driver: 'cdi', DeviceIDs: ['nvidia.com/gpu=0'] }] });
  });

  it('are the cards of rocm-smi, with the files that they are used through', async () => {
    await program('rocm-smi', '{"card0": {"Unique ID": "0x1234", "Card Series": "AMD Instinct MI250X"}, "system": {"Driver version": "6.7"}}');
    await mkdir(join(folder, 'drm/card0/device/drm/renderD128'), { recursive: true });
    const found = await look();
    assert.deepEqual(found, [{ via: 'rocm', id: 'card0', names: ['0', 'card0', '0x1234'], model: 'AMD Instinct MI250X', nodes: ['/dev/kfd', '/dev/dri/renderD128'] }]);
    assert.deepEqual((gpuOptions({ count: 1, devices: found }).Devices as { PathOnHost: string }[]).map(({ PathOnHost }) => PathOnHost), ['/dev/kfd', '/dev/dri/renderD128']);
  });

  it('are none where nothing tells of one', async () => assert.deepEqual(await look(), []));
});
