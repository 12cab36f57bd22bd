/** Parts of remote providers that need no service. */
import { strict as assert } from 'node:assert';
import { compareListings } from '../../../src/sandbox/listing.js';
import { readListing } from '../../../src/sandbox/remote/changes.js';
import { exitCodeOf } from '../../../src/sandbox/remote/commands.js';
import { readRef } from '../../../src/sandbox/remote/layers.js';
import { retryAfter } from '../../../src/sandbox/remote/wire.js';

describe('parts of remote providers', () => {
  it('count an end as a shell does: Go tells a death by a signal apart', () => {
    assert.equal(exitCodeOf({ exitCode: 7, exited: true, status: 'exit status 7' }), 7);
    assert.equal(exitCodeOf({ exited: true, status: 'exit status 0' }), 0, 'JSON leaves out what is 0');
    assert.equal(exitCodeOf({ exitCode: -1, exited: false, status: 'signal: killed' }), 137);
    assert.equal(exitCodeOf({ exitCode: -1, status: 'signal: terminated' }), 143);
    assert.equal(exitCodeOf({ exitCode: -1, status: 'signal: segmentation fault (core dumped)' }), 139);
    assert.equal(exitCodeOf({ exitCode: -1 }), 137);
  });

  it('read Retry-After as seconds or as a date, and no nonsense', () => {
    assert.deepEqual([retryAfter('3'), retryAfter(undefined), retryAfter('soon'), retryAfter('999999')], [3000, undefined, undefined, 600_000]);
    assert.equal(retryAfter('Thu, 01 Jan 1970 00:00:10 GMT', 4000), 6000);
    assert.equal(retryAfter('Thu, 01 Jan 1970 00:00:10 GMT', 60_000), 0);
  });

  it('tell what was added, modified and removed, a folder that is gone once', () => {
    const listing = (files: Record<string, string>) => readListing(Object.entries(files).map(([path, words]) => `${words}\0${path}\0`).join(''));
    const before = listing({ '/': 'd 1', '/a': 'f 1', '/b': 'd 1', '/b/c': 'f 1', '/b/d': 'd 1', '/b/d/e': 'f 1', '/f': 'f 1', '/g': 'd 1', '/same': 'f 1' });
    const after = listing({ '/': 'd 2', '/a': 'f 2', '/f': 'd 1', '/f/x': 'f 1', '/g': 'f 1', '/new\nline': 'l 1', '/same': 'f 1' });
    assert.deepEqual(
      compareListings(before, after).map(({ path, kind }) => `${kind} ${path}`).sort(),
      ['added /f', 'added /f/x', 'added /g', 'added /new\nline', 'modified /a', 'removed /b', 'removed /f', 'removed /g'],
    );
  });

  it('refuse what is no reference of a snapshot', () => {
    for (const ref of ['', 'sha256:0', 'x y z', `x ${'0'.repeat(32)} 1 2`, `x ${'0'.repeat(31)}`]) assert.throws(() => readRef(ref), { name: 'SandboxError' });
  });
});
