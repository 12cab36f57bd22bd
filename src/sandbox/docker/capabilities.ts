import type { Capabilities } from '../provider.js';

/** What a Docker engine with Linux containers can do. Whether it has a GPU is seen when one is asked for. */
export const dockerCapabilities: Capabilities = {
  gpu: true,
  filesystemSnapshot: true,
  memorySnapshot: false,
  suspend: true,
  network: ['none', 'full', 'allow'],
  isolation: ['default', 'gvisor'],
  user: true,
  readOnly: true,
  image: true,
  rootFolder: false,
  dockerfile: true,
  aptPackages: true,
  // More at once only makes each slower: it is work of the daemon.
  restoresAtOnce: 16,
};
