/** What a sandbox is to be, in Beam's words. */
import { Unsupported } from '../errors.js';
import type { GpuRequest, SandboxSpec } from '../provider.js';
import type { StubConfig } from './gateway.js';

/** Of a template that says none: what a shell and a small program take. */
const DEFAULT_MEMORY_MIB = 512;
const LEAST_MILLICORES = 100;

export function stubOf(name: string, imageId: string, { resources, network, lifetimeMs }: SandboxSpec): StubConfig {
  const { cpu = 1, memory } = resources;
  return {
    name,
    imageId,
    cpu: Math.max(LEAST_MILLICORES, Math.ceil(cpu * 1000)),
    memory: memory === undefined ? DEFAULT_MEMORY_MIB : Math.max(1, Math.ceil(memory / 2 ** 20)),
    ...gpuOf(resources.gpu),
    keepWarmSeconds: Math.ceil(lifetimeMs / 1000),
    blockNetwork: network === 'none',
  };
}

/** @throws Unsupported for a request that the service has no words for */
function gpuOf(gpu: GpuRequest | undefined): { readonly gpu: string; readonly gpuCount: number } {
  if (!gpu) return { gpu: '', gpuCount: 0 };
  if (gpu.count === 'all' || gpu.ids !== undefined || gpu.share !== undefined) throw new Unsupported('GPUs at Beam are asked for by number and model: `count`, and `model` such as `A100-40`');
  return { gpu: gpu.model ?? 'any', gpuCount: gpu.count };
}
