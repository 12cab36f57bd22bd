/** GPUs for sandboxes: asked of a provider, waited for, and written into what a sandbox is made with. */
import type { Provider, Resources } from '../sandbox/provider.js';
import { GpuLedger } from './gpuLedger.js';
import { GpuPool, requireEnough, type GpuWish } from './gpuPool.js';

export interface Need {
  readonly provider: Pick<Provider, 'gpus'>;
  readonly resources: Resources;
}

export interface HeldGpus {
  /** Of each need, with the devices that it may use. */
  readonly resources: readonly Resources[];
  release(): void;
}

/** One for all engines of this process. */
let pool = new GpuPool();

/** From now on devices are handed out in agreement with every process that names the same folder, which is made when somebody asks for a GPU. */
export function shareGpus(folder: () => Promise<string>): void {
  pool = new GpuPool(new GpuLedger(folder));
}

/** Waits for the devices of all needs at once. Where a provider cannot tell which there are, it hands out devices itself, and nothing is waited for. */
export async function holdGpus(needs: readonly Need[], signal?: AbortSignal, from = pool): Promise<HeldGpus> {
  const wishes = await wishesOf(needs, signal);
  const wanted = wishes.filter((wish) => wish !== undefined);
  if (wanted.length === 0) return { resources: needs.map(({ resources }) => resources), release: () => undefined };
  const lease = await from.acquire(wanted, signal);
  const resources = needs.map(({ resources: each }, index): Resources => {
    const wish = wishes[index];
    return wish ? { ...each, gpu: { ...wish.request, devices: lease.devices[wanted.indexOf(wish)] } } : each;
  });
  return { resources, release: () => lease.release() };
}

/** @throws LimitExceeded if the machine has not got them at all. */
export async function requireGpus(needs: readonly Need[], signal?: AbortSignal): Promise<void> {
  requireEnough((await wishesOf(needs, signal)).filter((wish) => wish !== undefined));
}

function wishesOf(needs: readonly Need[], signal: AbortSignal | undefined): Promise<(GpuWish | undefined)[]> {
  return Promise.all(
    needs.map(async ({ provider, resources: { gpu } }) => {
      if (gpu === undefined || gpu.count === 0) return undefined;
      const inventory = await provider.gpus?.({ signal });
      return inventory && { request: gpu, inventory };
    }),
  );
}
