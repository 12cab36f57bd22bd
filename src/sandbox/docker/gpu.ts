/** Whether a GPU that was asked for is really there: some engines ignore the request without a word. */
import type Docker from 'dockerode';
import { LimitExceeded, Unsupported } from '../errors.js';
import type { GpuRequest } from '../provider.js';
import { ask } from './inside.js';

/** Prints `nvidia-smi -L` where there is one, else the device nodes. */
const LOOK = 'nvidia-smi -L 2>/dev/null || ls -d /dev/nvidia[0-9]* 2>/dev/null; true';

/** @throws Unsupported if no GPU is visible, LimitExceeded if there are too few, or none of the model. */
export async function verifyGpu(container: Docker.Container, request: GpuRequest, signal: AbortSignal): Promise<void> {
  checkVisible(await ask(container, LOOK, [], signal), request);
}

/** `seen` is what LOOK printed: lines such as `GPU 0: NVIDIA A100-SXM4-40GB (UUID: ...)` or `/dev/nvidia0`. */
export function checkVisible(seen: string, { count, model }: GpuRequest): void {
  const lines = seen.split('\n').map((line) => line.trim());
  const named = lines.flatMap((line) => /^GPU \d+: (.+?)(?: \(UUID: .*\))?$/.exec(line)?.slice(1, 2) ?? []);
  const nodes = lines.filter((line) => /^\/dev\/nvidia\d+$/.test(line));
  const total = named.length || nodes.length;
  if (total === 0) throw new Unsupported('a GPU was asked for, and none is visible in the sandbox: this engine has no GPU, or ignored the request; install the NVIDIA Container Toolkit or remove `gpu`');
  const wanted = count === 'all' ? 1 : count;
  if (total < wanted) throw new LimitExceeded(`${wanted} GPUs were asked for, and ${total} ${total === 1 ? 'is' : 'are'} visible in the sandbox`);
  if (model === undefined) return;
  if (named.length === 0) throw new Unsupported(`a GPU of model ${model} was asked for, and the image has no nvidia-smi to tell the model by; use an image that has it, or ask for a count`);
  const matching = named.filter((name) => name.toLowerCase().includes(model.toLowerCase())).length;
  if (matching < (count === 'all' ? named.length : count)) throw new LimitExceeded(`a GPU of model ${model} was asked for, and the sandbox sees ${named.join(', ')}`);
}
