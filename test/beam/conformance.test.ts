/** The Beam provider against the simulator: the suite that every provider passes. */
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProvider } from '../../src/sandbox/beam/index.js';
import { conformance } from '../integration/conformance.js';
import { PLENTY, Simulated } from './simulated.js';

conformance('beam', async () => {
  const simulated = await Simulated.start();
  const stateDir = await mkdtemp(join(tmpdir(), 'rl-beam-'));
  // Also for the process that the suite starts.
  Object.assign(process.env, simulated.environment, PLENTY);
  return {
    provider: createProvider({ stateDir, log: console.error }),
    base: { image: 'docker.io/library/debian:bookworm' },
    context: { stateDir },
    parallel: 8,
    restoresAtOnce: 16,
    shortLifeMs: 4000,
    snapshotsStay: true,
    noMemorySnapshots: 'the sandboxes of this simulator are bubblewrap\'s; see memory.test.ts',
    slow: 'output of commands is polled as text in JSON: a few megabytes a second where the simulator and its sandboxes share a machine',
    small: 'the simulator and all of its sandboxes are on this machine',
    assertNothingLeft: async (id) => {
      const { sandboxes } = await simulated.state();
      assert.deepEqual(sandboxes.filter(({ name }) => name.endsWith(id)), []);
    },
    close: async () => {
      assert.deepEqual((await simulated.state()).sandboxes, []);
      await simulated.close();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
});
