/** Memory snapshots: what runs in a sandbox goes on in each that is restored from one. */
import { strict as assert } from 'node:assert';
import type { ProviderSnapshot } from '../../../src/sandbox/provider.js';
import { skip } from '../../support/skip.js';
import { output, run, type Bench } from './bench.js';
import { counted, next } from './counter.js';

const COPIES = 8;

export function memory(bench: Bench): void {
  it('a memory snapshot is refused where the provider has none', async () => {
    if (bench.provider.capabilities.memorySnapshot) return;
    await assert.rejects((await bench.restore()).snapshot('memory'), { name: 'Unsupported' });
  });

  it('a server with a counter is restored eight times at once from a memory snapshot, and each goes on from the same count by itself', async function () {
    if (!bench.provider.capabilities.memorySnapshot) return;
    if (bench.subject.noMemorySnapshots !== undefined) skip(this, bench.subject.noMemorySnapshots);
    const source = await counted(await bench.restore(), 3);
    await output(source, 'echo file > /srv/file');
    const snapshot = await source.snapshot('memory');
    const made: ProviderSnapshot[] = [snapshot];
    try {
      assert.equal(snapshot.kind, 'memory');
      assert.ok(await bench.provider.hasSnapshot(snapshot));
      assert.equal((await bench.provider.sizes([bench.snapshot, snapshot])).own.get(snapshot.ref), snapshot.sizeBytes);
      assert.equal(await next(source), 4, 'the source goes on');
      const copies = await Promise.all(Array.from({ length: COPIES }, () => bench.restore({}, snapshot)));
      const counts = await Promise.all(
        copies.map(async (copy, number) => {
          const seen: number[] = [];
          while (seen.length <= number) seen.push(await next(copy));
          return seen;
        }),
      );
      assert.deepEqual(counts, counts.map((_, number) => Array.from({ length: number + 1 }, (__, time) => 4 + time)), 'no copy counts for another');
      const found = (await bench.provider.list()).filter(({ id }) => copies.some((copy) => copy.id === id));
      assert.deepEqual(found.map(({ labels }) => [labels.run, labels.episode]), copies.map(() => ['conformance', 7]));
      // A copy is a sandbox like any other: commands, snapshots of both kinds, the end of all that runs.
      const files = await copies[0]!.snapshot('filesystem');
      made.push(files);
      const quiet = await bench.restore({}, files);
      assert.deepEqual([await output(quiet, 'cat /srv/file'), await quiet.ports()], ['file\n', []]);
      const again = await copies[1]!.snapshot('memory');
      made.push(again);
      assert.equal(await next(await bench.restore({}, again)), 6);
      await copies[2]!.killAll();
      assert.deepEqual(await copies[2]!.ports(), []);
      assert.equal((await run(copies[2]!, 'echo still there')).stdout, 'still there\n');
      assert.equal(await next(copies[3]!), 8, 'and of no other');
      await Promise.all(copies.map((copy) => copy.terminate()));
      for (const { id } of copies) await bench.subject.assertNothingLeft?.(id);
    } finally {
      await bench.terminateAll();
      for (const each of made) await bench.provider.removeSnapshot(each);
    }
    assert.equal(await bench.provider.hasSnapshot(snapshot), false);
  });
}
