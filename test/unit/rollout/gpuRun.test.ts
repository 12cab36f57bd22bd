import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { SandboxLost } from '../../../src/sandbox/errors.js';
import type { GpuDevice, Provider, Sandbox, SandboxSpec } from '../../../src/sandbox/provider.js';
import { GpuPool } from '../../../src/rollout/gpuPool.js';
import { holdGpus } from '../../../src/rollout/gpus.js';
import { runEpisodes, type RunContext } from '../../../src/rollout/run.js';
import type { EpisodeRecord } from '../../../src/store/records.js';
import { parseTemplate } from '../../../src/template/parse.js';

const DEVICES = [0, 1].map((number): GpuDevice => ({ via: 'nvidia', id: `GPU-${number}`, names: [String(number)], model: 'stand-in' }));

/** Sandboxes that are nothing, on a machine with two GPUs. */
class StandIn {
  readonly busy = new Set<string>();
  readonly used: string[] = [];
  most = 0;
  breaks = 0;
  readonly gpus = () => Promise.resolve(DEVICES);
  readonly restore = async (_: unknown, { resources }: SandboxSpec): Promise<Sandbox> => {
    const [id, ...others] = (resources.gpu?.devices ?? []).map((device) => device.id);
    assert.ok(id !== undefined && others.length === 0 && !this.busy.has(id), `${id} is in use`);
    this.busy.add(id);
    this.used.push(id);
    this.most = Math.max(this.most, this.busy.size);
    await turn();
    const gone = () => Promise.resolve(void this.busy.delete(id));
    if (this.breaks-- > 0) {
      await gone();
      throw new SandboxLost('it went away while it was made');
    }
    return { killAll: () => Promise.resolve(), terminate: gone, ended: Promise.resolve() } as unknown as Sandbox;
  };
}

describe('a run of 64 episodes on two GPUs', () => {
  let folder: string;
  let machine: StandIn;
  let records: EpisodeRecord[];
  const pool = new GpuPool();
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rl-gpu-run-'));
    machine = new StandIn();
    records = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const run = (act: RunContext['policy']['act'], signal = new AbortController().signal): Promise<void> => {
    const { template } = parseTemplate('name: gpu\nresources: {gpu: 1}\nepisode: {run: x, seeds: 64}\nreward: stdout\n', '/envs/gpu.rlenv.yaml');
    const provider = machine as unknown as Provider;
    const context = {
      run: { id: 'gpu', provider: 'stand-in', seeds: template!.episode.seeds, samples: 1, total: 64, concurrency: 64, timeoutMs: 10_000 },
      ...{ template, provider, records, secrets: {}, environment: {}, labels: { owner: 'test' }, snapshot: {}, done: new Set<number>() },
      policy: { description: { name: 'noop' }, act },
      log: { append: (record: EpisodeRecord) => Promise.resolve(void records.push(record)) },
      episodeFolder: (episode: number) => join(folder, String(episode)),
      holdGpus: async (until: AbortSignal) => {
        const held = await holdGpus([{ provider, resources: template!.resources }], until, pool);
        return { episode: held.resources[0], scoring: () => assert.fail('there is none'), release: () => held.release() };
      },
    };
    return runEpisodes(context as unknown as RunContext, signal);
  };
  const allFree = async (): Promise<void> => (await pool.acquire([{ request: { count: 2 }, inventory: DEVICES }], AbortSignal.timeout(1000))).release();

  it('has two at a time, also when a sandbox cannot be made', async () => {
    machine.breaks = 1;
    await run(() => Promise.resolve({ status: 'completed' }));
    assert.equal(machine.most, 2);
    assert.equal(machine.used.length, 65);
    assert.equal(records.length, 64);
    assert.deepEqual([...new Set(records.map(({ status }) => status))], ['completed']);
    assert.deepEqual([...new Set(machine.used)].sort(), ['GPU-0', 'GPU-1']);
    await allFree();
  });

  it('gives them back when it is cancelled, with 62 that wait', async () => {
    const stop = new AbortController();
    let acting = 0;
    const cancelled = run((stage) => {
      acting += 1;
      if (acting === 2) setImmediate(() => stop.abort(new Error('cancelled')));
      return new Promise((_, reject) => stage.signal.addEventListener('abort', () => reject(stage.signal.reason as Error), { once: true }));
    }, stop.signal);
    await assert.rejects(cancelled, /cancelled/);
    assert.equal(machine.used.length, 2);
    assert.equal(machine.busy.size, 0);
    await allFree();
  });
});
