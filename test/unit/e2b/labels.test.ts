/** What tells whose a sandbox at E2B is. */
import { strict as assert } from 'node:assert';
import { metadataOf, sandboxInfo } from '../../../src/sandbox/e2b/labels.js';

describe('labels of sandboxes at E2B', () => {
  it('give labels as metadata and back, and leave the sandboxes of other machines alone until they have expired', async () => {
    const labels = { owner: '1:2:3', run: 'r', episode: 0, template: 't', digest: undefined, snapshot: 's', expires: 1000 };
    const metadata = await metadataOf('id1', labels);
    const listed = { metadata, startedAt: new Date(5), state: 'running' };
    assert.deepEqual(await sandboxInfo(listed, 0), { id: 'id1', provider: 'e2b', labels, createdAt: 5, state: 'running' });
    const elsewhere = { ...listed, metadata: { ...metadata, 'rl-sandboxes.machine': 'another' } };
    assert.equal(await sandboxInfo(elsewhere, 999), undefined);
    assert.equal((await sandboxInfo(elsewhere, 1001))?.id, 'id1');
    assert.equal(await sandboxInfo({ ...listed, metadata: { somebody: 'else' } }), undefined);
  });
});
