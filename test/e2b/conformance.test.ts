/** The E2B provider against the simulator: the suite that every provider passes. */
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProvider } from '../../src/sandbox/e2b/index.js';
import { conformance } from '../integration/conformance.js';
import { Simulated } from './simulated.js';

conformance('e2b', async () => {
  const simulated = await Simulated.start();
  const stateDir = await mkdtemp(join(tmpdir(), 'rl-e2b-'));
  // Also for the process that the suite starts.
  Object.assign(process.env, simulated.environment, { RL_SANDBOXES_E2B_CONCURRENT: '500', RL_SANDBOXES_E2B_CREATIONS_PER_SECOND: '500' });
  return {
    provider: createProvider({ stateDir, log: console.error }),
    base: { image: 'debian:bookworm' },
    context: { stateDir },
    parallel: 8,
    restoresAtOnce: 16,
    shortLifeMs: 4000,
    snapshotsStay: true,
    noMemorySnapshots: 'the simulator runs on bubblewrap here; on Podman memory.test.ts does it',
    small: 'the simulator and all of its sandboxes are on this machine',
    assertNothingLeft: async (id) => {
      const { sandboxes } = await simulated.state();
      assert.deepEqual(sandboxes.filter(({ metadata }) => metadata['rl-sandboxes.id'] === id), []);
    },
    close: async () => {
      assert.deepEqual((await simulated.state()).sandboxes, []);
      await simulated.close();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
});
