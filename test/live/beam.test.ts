/** The Beam provider against the service itself, by the key of whoever runs this: `npm run test:live -- beam`. It is no part of `npm test`. */
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProvider } from '../../src/sandbox/beam/index.js';
import { currentOwner } from '../../src/sandbox/owner.js';
import { commands, conformance, files, lifecycle, live, snapshots } from '../integration/conformance.js';

// Isolation is left out: what a process may do in a container of its own there is not what keeps it in.
conformance(
  'beam, the service itself',
  async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'rl-beam-'));
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
      slow: 'output is polled as text in JSON',
      small: 'transfer is paid for',
      assertNothingLeft: async (id) => assert.ok(!(await ours()).includes(id)),
      close: async () => {
        assert.deepEqual(await ours(), []);
        await rm(stateDir, { recursive: true, force: true });
      },
    };
  },
  [lifecycle, commands, files, live, snapshots],
);
