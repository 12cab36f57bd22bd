/** What a container uses, as the engine reads it from its control groups. */
import type Docker from 'dockerode';
import { statusOf } from './failures.js';
import { SandboxLost } from '../errors.js';
import type { SandboxStats } from '../provider.js';

interface EngineStats {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } };
  readonly memory_stats?: { readonly usage?: number; readonly stats?: Readonly<Record<string, number>> };
  readonly pids_stats?: { readonly current?: number };
}

export async function usageOf(container: Docker.Container, signal: AbortSignal): Promise<SandboxStats> {
  // One reading: without this the engine waits for a second one, to compare.
  const reading = container.stats({ stream: false, 'one-shot': true, abortSignal: signal } as unknown as { stream: false }) as unknown as Promise<EngineStats>;
  const { cpu_stats, memory_stats, pids_stats } = await reading.catch((error: unknown) => {
    throw statusOf(error) === 404 ? new SandboxLost('the sandbox is gone', { cause: error }) : error;
  });
  if (!memory_stats?.usage) throw new SandboxLost('the sandbox has ended');
  // As Docker's command line does: pages of files that the kernel can drop at any time are no use of memory.
  const { total_inactive_file, inactive_file } = memory_stats.stats ?? {};
  return {
    cpuMs: (cpu_stats?.cpu_usage?.total_usage ?? 0) / 1e6,
    memory: Math.max(0, memory_stats.usage - (total_inactive_file ?? inactive_file ?? 0)),
    pids: pids_stats?.current ?? 0,
  };
}
