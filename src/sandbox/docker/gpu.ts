/** Whether a GPU that was asked for is really there: some engines ignore the request without a word. */
import type Docker from 'dockerode';
import { LimitExceeded, Unsupported } from '../errors.js';
import type { GpuDevice, GpuRequest } from '../provider.js';
import { ask } from './inside.js';

/** How a container is given GPUs: those that were handed out, else as many as were asked for, which the engine then chooses. */
export function gpuOptions({ count, devices }: GpuRequest): Docker.HostConfig {
  const Capabilities = [['gpu']];
  if (devices === undefined) return { DeviceRequests: [{ Driver: '', Count: count === 'all' ? -1 : count, Capabilities }] };
  const idsOf = (via: GpuDevice['via']): string[] => devices.filter((device) => device.via === via).map(({ id }) => id);
  const [nvidia, cdi] = [idsOf('nvidia'), idsOf('cdi')];
  const nodes = [...new Set(devices.flatMap((device) => device.nodes ?? []))];
  return {
    DeviceRequests: [...(nvidia.length > 0 ? [{ Driver: '', DeviceIDs: nvidia, Capabilities }] : []), ...(cdi.length > 0 ? [{ Driver: 'cdi', DeviceIDs: cdi }] : [])],
    ...(nodes.length > 0 && { Devices: nodes.map((node) => ({ PathOnHost: node, PathInContainer: node, CgroupPermissions: 'rw' })) }),
  };
}

/** Prints `nvidia-smi -L` where there is one, else the device nodes. */
const LOOK = 'nvidia-smi -L 2>/dev/null || ls -d /dev/nvidia[0-9]* /dev/dri/renderD* 2>/dev/null; true';

/** @throws Unsupported if no GPU is visible, LimitExceeded if there are too few, or none of the model. */
export async function verifyGpu(container: Docker.Container, request: GpuRequest, signal: AbortSignal): Promise<void> {
  // The model of one that was handed out is known, and no program in the image has to tell it.
  checkVisible(await ask(container, LOOK, [], signal), { ...request, model: request.devices ? undefined : request.model });
}

/** `seen` is what LOOK printed: lines such as `GPU 0: NVIDIA A100-SXM4-40GB (UUID: ...)` or `/dev/nvidia0`. */
export function checkVisible(seen: string, { count, model }: GpuRequest): void {
  const lines = seen.split('\n').map((line) => line.trim());
  const named = lines.flatMap((line) => /^GPU \d+: (.+?)(?: \(UUID: .*\))?$/.exec(line)?.slice(1, 2) ?? []);
  const nodes = lines.filter((line) => /^\/dev\/(nvidia|dri\/renderD)\d+$/.test(line));
  const total = named.length || nodes.length;
  if (total === 0) throw new Unsupported('a GPU was asked for, and none is visible in the sandbox: this engine has no GPU, or ignored the request; install the NVIDIA Container Toolkit or remove `gpu`');
  const wanted = count === 'all' ? 1 : count;
  if (total < wanted) throw new LimitExceeded(`${wanted} GPUs were asked for, and ${total} ${total === 1 ? 'is' : 'are'} visible in the sandbox`);
  if (model === undefined) return;
  if (named.length === 0) throw new Unsupported(`a GPU of model ${model} was asked for, and the image has no nvidia-smi to tell the model by; use an image that has it, or ask for a count`);
  const matching = named.filter((name) => name.toLowerCase().includes(model.toLowerCase())).length;
  if (matching < (count === 'all' ? named.length : count)) throw new LimitExceeded(`a GPU of model ${model} was asked for, and the sandbox sees ${named.join(', ')}`);
}
