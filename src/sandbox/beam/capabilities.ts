import type { Capabilities } from '../provider.js';

/** What Beam's service, or a beta9 of one's own, offers through this provider. */
export const beamCapabilities: Capabilities = {
  gpu: true,
  filesystemSnapshot: true,
  memorySnapshot: true,
  network: ['none', 'full'],
  isolation: ['default'],
  user: false,
  readOnly: false,
  image: true,
  rootFolder: false,
  dockerfile: false,
  aptPackages: true,
};
