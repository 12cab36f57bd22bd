import type { Capabilities } from '../provider.js';

/** What bubblewrap can do on this machine, as this user. */
export const bubblewrapCapabilities: Capabilities = {
  gpu: false,
  filesystemSnapshot: true,
  memorySnapshot: false,
  network: ['none', 'full', 'allow'],
  isolation: ['default'],
  // An ordinary user's namespace has only one user.
  user: process.getuid?.() === 0,
  readOnly: true,
  image: true,
  rootFolder: true,
  dockerfile: false,
  // A package manager hands files to several users; an ordinary user's namespace maps only one.
  aptPackages: process.getuid?.() === 0,
  // More at once only makes each slower: it is work of the kernel.
  restoresAtOnce: 16,
};
