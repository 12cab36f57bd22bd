/**
 * What every provider must do, tried against the real thing. A provider's own test file calls `conformance` with how to open it; what only
 * that provider has stays in its own file.
 */
import { commands } from './conformance/commands.js';
import { files } from './conformance/files.js';
import { isolation } from './conformance/isolation.js';
import { live } from './conformance/live.js';
import { memory } from './conformance/memory.js';
import { network } from './conformance/network.js';
import { restrictions } from './conformance/restrictions.js';
import { snapshots } from './conformance/snapshots.js';
import { lifecycle } from './conformance/lifecycle.js';
import { Bench, type Subject } from './conformance/bench.js';

export type { Subject } from './conformance/bench.js';

export { commands, files, lifecycle, live, memory, snapshots };

type Part = (bench: Bench) => void;
const ALL: readonly Part[] = [lifecycle, commands, files, isolation, network, restrictions, live, snapshots, memory];

/** Registers the suite, or parts of it. `open` is called once, before the first test. */
export function conformance(name: string, open: () => Promise<Subject>, parts = ALL): void {
  describe(name, function () {
    this.timeout(120_000);
    const bench = new Bench();
    before(async function () {
      this.timeout(600_000);
      await bench.start(await open());
    });
    after(async function () {
      await bench.stop();
    });
    afterEach('leaves no sandbox', () => bench.terminateAll());

    for (const part of parts) part(bench);
  });
}
