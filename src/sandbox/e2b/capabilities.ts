import type { Capabilities } from '../provider.js';

/** What E2B's service offers; the longest life is that of its smallest plan. Limits: e2b.dev/docs/billing. */
export const e2bCapabilities: Capabilities = {
  gpu: false,
  filesystemSnapshot: true,
  memorySnapshot: true,
  suspend: true,
  network: ['none', 'full'],
  isolation: ['default'],
  user: false,
  readOnly: false,
  image: true,
  rootFolder: false,
  dockerfile: false,
  aptPackages: true,
  maxSessionSeconds: 3600,
};
