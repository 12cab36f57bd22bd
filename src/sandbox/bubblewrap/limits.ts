/** The bounds of one sandbox with the provider's own where none are asked for. */
import { totalmem } from 'node:os';
import { Unsupported } from '../errors.js';
import type { Resources } from '../provider.js';

const GIBIBYTE = 2 ** 30;
const DEFAULT_PIDS = 1024;

export interface Limits {
  /** Cores; undefined is no bound. */
  readonly cpu: number | undefined;
  /** Bytes; undefined is no bound. */
  readonly memory: number | undefined;
  readonly pids: number;
  /** Bytes of the file system that the sandbox writes to. It lies in memory and counts as such. */
  readonly disk: number;
}

/**
 * What a sandbox writes lies in memory, so without a bound of its own the disk is a gibibyte, or half the memory where that is less: a
 * sandbox that fills its disk then gets "No space left" and is not killed for it.
 */
export function limitsOf(resources: Resources, build = false): Limits {
  if (resources.gpu !== undefined && resources.gpu.count !== 0) throw new Unsupported('bubblewrap sandboxes have no GPU; the docker provider has');
  const { cpu, memory, pids = DEFAULT_PIDS } = resources;
  // What an episode may write is no bound for what it is built from.
  const disk = build ? totalmem() / 2 : (resources.disk ?? Math.min(GIBIBYTE, memory === undefined ? GIBIBYTE : memory / 2));
  return { cpu, memory, pids, disk };
}
