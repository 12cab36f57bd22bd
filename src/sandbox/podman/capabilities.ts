import { dockerCapabilities } from '../docker/capabilities.js';
import type { Capabilities } from '../provider.js';

/** What a Podman service can do. Its API ignores requests for GPUs and for another runtime. Whether memory can be snapshotted, `check` says. */
export const podmanCapabilities: Capabilities = { ...dockerCapabilities, gpu: false, memorySnapshot: true, suspend: false, isolation: ['default'] };
