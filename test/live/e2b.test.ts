/** The E2B provider against the service itself, by the key of whoever runs this: `npm run test:live -- e2b`. It is no part of `npm test`. */
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProvider } from '../../src/sandbox/e2b/index.js';
import { currentOwner } from '../../src/sandbox/owner.js';
import { commands, conformance, files, lifecycle, live, memory, snapshots } from '../integration/conformance.js';

// Isolation is left out: what a process may do in a virtual machine of its own is not what keeps it in.
conformance(
  'e2b, the service itself',
  async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'rl-e2b-'));
    const provider = createProvider({ stateDir, log: console.error });
    const ours = async (): Promise<string[]> => {
      const owner = await currentOwner();
      return (await provider.list()).filter(({ labels }) => labels.owner === owner).map(({ id }) => id);
    };
    return {
      provider,
      base: {},
      context: { stateDir },
      parallel: 4,
      restoresAtOnce: 4,
      shortLifeMs: 10_000,
      snapshotsStay: true,
      small: 'transfer is paid for',
      assertNothingLeft: async (id) => assert.ok(!(await ours()).includes(id)),
      close: async () => {
        assert.deepEqual(await ours(), []);
        await rm(stateDir, { recursive: true, force: true });
      },
    };
  },
  [lifecycle, commands, files, live, snapshots, memory],
);
