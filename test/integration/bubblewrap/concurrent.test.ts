import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openProvider } from '../../../src/sandbox/registry.js';

describe('bubblewrap in a fresh folder', () => {
  it('can be asked several things at once, by several providers', async function () {
    this.timeout(60_000);
    const stateDir = await mkdtemp(join(tmpdir(), 'rl-fresh-'));
    const providers = await Promise.all([1, 2].map(() => openProvider('bubblewrap', { stateDir, log: () => undefined })));
    try {
      const answers = await Promise.all(providers.flatMap((provider) => [provider.check(), provider.check(), provider.list().then(() => provider.check())]));
      assert.deepEqual(answers.map(({ ok, summary }) => (ok ? 'ok' : summary)), Array<string>(6).fill('ok'));
      // One by one: a recursive look would follow links out of the root.
      const names = await Promise.all(['roots', 'tools', 'snapshots'].map((name) => readdir(join(stateDir, name)).catch(() => [])));
      const left = names.flat().filter((name) => name.endsWith('.partial'));
      assert.deepEqual(left, []);
    } finally {
      await Promise.all(providers.map((provider) => provider.close()));
      await rm(stateDir, { recursive: true, force: true });
    }
  });
});
