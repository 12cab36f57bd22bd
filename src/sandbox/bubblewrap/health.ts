import { release } from 'node:os';
import { ProviderUnavailable } from '../errors.js';
import type { Health } from '../provider.js';
import type { Ability } from './ability.js';
import type { Controller } from './cgroupTree.js';

export function describeHealth(ability: Ability): Health {
  const { host, privileged, cgroups, memoryDisk, folderDisk, countsPids } = ability;
  const kept = (controller: Controller, otherwise: 'rlimit' | 'none'): 'cgroup' | 'rlimit' | 'none' => (cgroups.has(controller) ? 'cgroup' : otherwise);
  return {
    ok: true,
    summary: `bubblewrap ${host.version} ${privileged ? 'as root' : 'as an ordinary user'}`,
    limits: { cpu: kept('cpu', 'none'), memory: kept('memory', 'rlimit'), pids: kept('pids', countsPids ? 'rlimit' : 'none'), disk: memoryDisk ? 'filesystem' : 'none' },
    details: {
      kernel: release(),
      'episodes write to': memoryDisk ? 'memory; it counts as memory of the sandbox' : 'the folder of state: the kernel cannot keep overlay marks in memory (Linux 6.6 or later can)',
      'builds write to': folderDisk ? 'the folder of state' : 'memory: the file system of the folder of state cannot hold an overlay',
      'apt packages': privileged ? 'can be installed' : 'cannot be installed by an ordinary user: a package manager hands files to several users',
    },
  };
}

export function describeFailure(error: unknown): Health {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ProviderUnavailable)) return { ok: false, summary: message, hint: 'see the log for what went before it', code: 'error' };
  const code = /not installed|cannot be found/.test(message) ? 'not-installed' : /needs Linux/.test(message) ? 'unsupported' : 'permission';
  return { ok: false, summary: message, hint: error.hint, code };
}
